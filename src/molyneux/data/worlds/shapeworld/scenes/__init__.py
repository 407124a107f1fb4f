"""Scenes: entities with attributes and places, how they are drawn, changed and rendered, and the settings of all that."""
