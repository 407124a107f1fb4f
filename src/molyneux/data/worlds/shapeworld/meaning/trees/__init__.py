"""Meaning as typed trees of symbols, and the trees of a batch as arrays of codes."""
