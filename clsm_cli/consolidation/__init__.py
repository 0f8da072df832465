"""From episodes to statements and a graph: what the nightly sleep does."""
