"""What data sets of digits are made of: images in files, words, and pairs of samples of the same class."""
