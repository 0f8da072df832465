"""Systems that are compared: clsm, published systems, and plain baselines."""
