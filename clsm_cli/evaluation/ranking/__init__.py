"""The order of single passages, by each signal and by weights fitted on other conversations."""
