"""Training structures: ways to train a fusion that weigh losses, change gradients or translate between modalities."""
