"""Captioners: they draw captions of scenes that are true or false as wanted."""
