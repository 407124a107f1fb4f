"""One experiment: its settings, its folder, and the four steps that fill it."""
