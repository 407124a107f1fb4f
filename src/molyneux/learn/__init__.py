"""Samples become a trained model."""
