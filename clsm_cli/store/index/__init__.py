"""The derived index under ``.clsm/index/``: delete it and every answer is the same.

``index.sqlite`` is the only commit point; the vector file beside it holds rows that the database
has committed, and bytes past them do not exist.
"""
