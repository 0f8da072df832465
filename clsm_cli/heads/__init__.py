"""What a text is, told by small classifiers over its shape and its vector: weights are data files."""
