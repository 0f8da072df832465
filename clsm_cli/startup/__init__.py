"""Modules that exist only so that a command starts fast; each says what it saves."""
