"""Formats of files: arrays, tables, pictures and sounds, read within limits and with errors that name the file."""
