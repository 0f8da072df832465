"""Ingestion: from sources to episodes: read, capture, segment, describe."""
