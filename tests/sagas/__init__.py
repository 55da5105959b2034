"""Sagas on a real store with real workers: what is undone, in the ledger's own order."""
