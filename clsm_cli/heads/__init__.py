"""Small classifiers of text over its shape and its vector, and cross-encoders; their weights are data files."""
