"""A laboratory for multimodal representation learning."""
