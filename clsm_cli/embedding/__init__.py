"""Sentence and token vectors from all-MiniLM-L6-v2 on the CPU.

``weights`` checks the model files, ``download`` installs them, ``encoder`` turns text into vectors.
Importing ``weights`` or ``encoder`` loads neither numpy, onnxruntime nor tokenizers, so a command that
embeds nothing pays nothing.
"""
