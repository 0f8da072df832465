"""Programs that clsm can work with; it needs none of them."""
