"""The named actions that can be asked for. A tool knows how to find its target and how to act; it never judges."""
