"""Models of commands: fitted, loaded, and what their files note of their rows."""
