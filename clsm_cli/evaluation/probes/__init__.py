"""Probes: small tests of one ability each, passed or failed, on material made from a seed."""
