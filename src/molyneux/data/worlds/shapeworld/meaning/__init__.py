"""The meaning of captions and how it is said.

`trees` are the meaning; `language` says and reads them by the rules of a `grammar`; `truth` evaluates them in scenes;
`captioners` draw them for scenes; `foils` change them; `dmrs` converts them for other grammars.
"""
