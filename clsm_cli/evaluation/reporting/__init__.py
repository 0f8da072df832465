"""A result of ``clsm eval`` as grids, charts, Markdown, one HTML page, and files."""
