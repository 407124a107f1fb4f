"""Feature grammars: sentences from trees, and trees from sentences."""
