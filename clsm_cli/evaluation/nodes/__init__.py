"""Concept retrieval on LoCoMo with a graph of 132 nodes, as CLS-M measured it."""
