"""``localsvm federated``: one model of parties that keep their rows."""
