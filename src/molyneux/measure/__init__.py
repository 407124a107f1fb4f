"""A model and samples become scores."""
