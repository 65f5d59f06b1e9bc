"""Screens from outside: a dump shown as the phone."""
