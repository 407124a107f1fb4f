"""What leaves a folder to be shared: exports of trained models and of samples, with their cards."""
