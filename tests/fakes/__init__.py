"""Fakes that stand behind the ports, one file per port."""
