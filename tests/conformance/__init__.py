"""How near we come to what AWS was recorded to do: `python -m tests.conformance`."""
