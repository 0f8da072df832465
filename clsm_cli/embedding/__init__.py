"""Sentence and token vectors from all-MiniLM-L6-v2 on the CPU.

``weights`` installs and checks the model files, ``encoder`` turns text into vectors. Importing
either loads neither numpy, onnxruntime nor tokenizers: a command that embeds nothing pays nothing.
"""
