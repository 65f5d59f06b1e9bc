"""Writes the reference pages from the code, so that they cannot go stale: `python -m tests.docs [--check]`."""
