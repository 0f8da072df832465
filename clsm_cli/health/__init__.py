"""What is wrong with a store, and the mending of it."""
