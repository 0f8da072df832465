"""Looking at a store without changing it: its state, and one thing by its id."""
