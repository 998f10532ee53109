"""Studies of the page random_numbers."""
