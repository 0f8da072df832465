"""Frozen records of a memory, without any I/O."""
