"""Encoders and decoders by kind of modality."""
