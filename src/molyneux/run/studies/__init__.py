"""Studies: many experiments, computed several at a time; their records."""
