"""Guards are taken out, one at a time, of a copy of the tree: a test must turn red for each."""
