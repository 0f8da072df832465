"""From what was said and written to episodes: read, capture, segment, describe."""
