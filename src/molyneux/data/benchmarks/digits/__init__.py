"""What data sets of digits are made of: images and sounds in files, words, and pairs of samples of the same class."""
