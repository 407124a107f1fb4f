"""What data sets in files are made of: base classes of what they share, and attributes as a modality."""
