"""The memory folder: the only code that reads or writes it (docs/format.md)."""
