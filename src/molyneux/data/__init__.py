"""Seeds and files become samples."""
