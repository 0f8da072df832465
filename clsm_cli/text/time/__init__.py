"""Time expressions: finding them in text, their parts, and the periods they mean."""
