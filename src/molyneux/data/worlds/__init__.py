"""Worlds: generators whose true factors are known."""
