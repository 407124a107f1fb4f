"""The pages of the studio, one module each."""
