"""Chinese characters as pictures and as strokes of a pen."""
