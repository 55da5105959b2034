"""The door, asked over HTTP as its clients ask it."""
