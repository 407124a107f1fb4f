"""Training structures: predictors that weigh their own losses or translate between modalities."""
