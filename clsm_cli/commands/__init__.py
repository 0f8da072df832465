"""One file a command: read options, call one function, print one result."""
