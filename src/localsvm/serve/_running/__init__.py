"""The application in one process, or in several at one address."""
