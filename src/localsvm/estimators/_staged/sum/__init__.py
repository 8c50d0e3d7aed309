"""What is added to the stages of the staged SVM, and with which weights."""
