"""Objectives: pure functions that return named terms, in nats per sample."""
