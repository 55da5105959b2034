"""The drawing: nothing overlaps, nothing hostile gets out, the same text is the same picture."""
