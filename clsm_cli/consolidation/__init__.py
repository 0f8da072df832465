"""Consolidation: turn episodes into statements and a graph, every night."""
