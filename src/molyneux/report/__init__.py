"""Scores become tables, plots and pages."""
