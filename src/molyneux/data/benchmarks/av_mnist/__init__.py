"""Written digits with recordings of spoken ones: pairs made of real files, the published arrays, and sounds in files."""
