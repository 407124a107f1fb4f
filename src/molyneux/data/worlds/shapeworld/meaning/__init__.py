"""The meaning of captions and how it is said."""
