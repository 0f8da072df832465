"""Numbers in, numbers out: every formula beside the code that computes it."""
