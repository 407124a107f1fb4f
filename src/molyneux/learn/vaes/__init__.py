"""Multimodal variational autoencoders, one file per published model."""
