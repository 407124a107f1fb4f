"""When a statement is true of a scene, and its evaluation for whole batches."""
