"""Programs that clsm can work with, none of which it needs."""
