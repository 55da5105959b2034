"""The schema's history: one file per change, never edited once it is released."""
