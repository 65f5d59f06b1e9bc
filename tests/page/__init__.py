"""Tests of the page; a package, so that they can share its sessions and its browser."""
