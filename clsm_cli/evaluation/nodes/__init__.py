"""Which concepts belong to a question? LoCoMo's turns with a graph of 132 nodes, as CLS-M measured."""
