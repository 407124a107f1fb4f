"""Texts of data sets: their splits, words and numbers, and raw texts in the place of features."""
