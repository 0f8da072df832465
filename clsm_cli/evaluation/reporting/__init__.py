"""A result of ``clsm eval`` as tables, as Markdown and as files."""
