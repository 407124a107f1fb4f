"""False captions that differ from a true one in one thing, paraphrases and negations, and balanced captions of two scenes."""
