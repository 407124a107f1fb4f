"""Strings, pictures, sounds and arrays become views of a modality, and views become such values again."""
