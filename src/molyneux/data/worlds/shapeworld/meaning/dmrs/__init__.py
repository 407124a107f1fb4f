"""Meaning as dependency minimal recursion semantics (DMRS), for other grammars of English."""
