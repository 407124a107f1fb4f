"""Languages: English and German for trees, words and their ids, and what is asked of sentences."""
