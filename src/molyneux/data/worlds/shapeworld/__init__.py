"""ShapeWorld: microworlds of shapes, captions with a formal meaning, and whether they agree."""
