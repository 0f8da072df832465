"""One file per command: read options, call one function, print one result.

Errors are raised as UsageError or ClsmError; ``output`` alone prints them.
"""

MODULES = {
    "recall": "recall_command",
    "search": "recall_command",
    "graph": "graph_command",
    "log": "log_command",
    "list": "log_command",
    "edit": "editor",
    "open": "editor",
    "eval": "evaluate",
    "merge-driver": "init",
    "unpin": "pin",
    "history": "show",
    "restore": "backup",
}
"""Command → module, where the names differ."""
