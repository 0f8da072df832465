"""Published systems: their retrieval as settings, over clsm's own records, vectors and scores."""
