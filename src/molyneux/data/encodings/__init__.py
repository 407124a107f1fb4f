"""How samples look in files of other tools, and what is read back from them: the same arrays, as far as they mean anything."""
