"""Times in text: the expressions found, their parts, and the periods they mean."""
