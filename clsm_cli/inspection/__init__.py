"""Look at a store without changing it."""
