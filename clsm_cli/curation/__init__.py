"""A person changes what the memory says: correct, edit, pin, review."""
