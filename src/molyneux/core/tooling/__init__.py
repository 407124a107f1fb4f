"""How settings become objects and loops become fast: YAML documents, classes by name, moved arguments, extras, compilation.

Nothing here passes between packages, as the types of `molyneux.core` do. Settings are read with `molyneux.core.config`.
"""
