"""Small classifiers of text over its shape and its vector; their weights are data files."""
