"""Answers of a language model from what a system returned, and how right they are."""
