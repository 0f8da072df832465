"""Labelled sets: one module reads one layout."""
