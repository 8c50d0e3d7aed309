"""Summaries that leave a party, their files, and how they are merged."""
