"""The one road from a tool call to the phone: describe, gates, write, run, look, cap, write. It never asks a model."""
