"""The derived index under ``.clsm/index/``: deleting it changes no answer.

``index.sqlite`` is the only commit point: readers ignore bytes of the vector files beyond the rows that
the database has committed.
"""
