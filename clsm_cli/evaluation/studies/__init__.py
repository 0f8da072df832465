"""Studies of one part of the program, each with a report of its own."""
