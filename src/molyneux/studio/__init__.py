"""A local web page beside the command line: see worlds, ask models, move codes, break senses, compare runs."""
