"""A trained model in the hand: opened by name or folder, asked with what people have, and answering in the same."""
