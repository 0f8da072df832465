"""Mechanisms of clsm taken out, one at a time, to see what each is worth."""
