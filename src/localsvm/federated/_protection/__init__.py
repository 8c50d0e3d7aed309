"""What is done to clusters before they leave a party."""
