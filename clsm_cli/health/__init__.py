"""Check a store and repair it (``clsm doctor``)."""
