"""Drive Android phones from a PC, one gated and recorded call at a time. Importing this package does nothing."""

__version__ = "0.1.0"
