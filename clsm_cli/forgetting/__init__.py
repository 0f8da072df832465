"""Forgetting: decay, undo and forget; each a plan, then its application."""
