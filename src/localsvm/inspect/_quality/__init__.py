"""How often a classifier is right, alone and beside others."""
