"""Formulas on plain numbers, each documented beside the code that computes it."""
