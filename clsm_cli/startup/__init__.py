"""What exists only so that a command starts fast: each module says what it saves."""
