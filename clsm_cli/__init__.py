"""clsm: a memory for a persistent LLM agent, in plain files on one small computer."""

__version__ = "0.1.0"
