"""Measuring recall against labelled sets: load, build stores, rank, score."""
