"""clsm inside a real OpenClaw; see ``__main__``."""
