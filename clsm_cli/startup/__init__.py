"""Modules that only make commands start faster; each says what it saves."""
