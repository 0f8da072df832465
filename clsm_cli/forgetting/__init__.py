"""Forgetting: what fades, what is taken back, what has to go; each a plan, then its application."""
