"""Tables that commands read, and the files that they write."""
