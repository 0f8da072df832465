"""One file per command: read options, call one function, print one result.

Errors are raised as UsageError or ClsmError; ``output`` alone prints them.
"""
