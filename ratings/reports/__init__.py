"""Reports: read what counts, compute one document, render everything from it."""
