"""What a table encoder learns of each column, one class per kind: plain data."""
