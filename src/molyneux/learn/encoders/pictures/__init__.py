"""Encoders of pictures for predictors; nets that encode and decode pictures, for generative models, are in `encoders.nets`."""
