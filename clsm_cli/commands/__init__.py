"""One file a command: read options, call one function, print one result.

What goes wrong is raised, as a UsageError or a ClsmError, and told in one place (``output``).
"""
