"""The apps of the virtual phone, each as ordinary code over views.py and windows.py."""
