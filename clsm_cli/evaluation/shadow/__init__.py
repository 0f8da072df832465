"""Shadow mode: what memory would have given, beside the files that an agent loads (CLS-M §4.3)."""
