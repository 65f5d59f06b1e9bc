"""What the phone shows: views, windows, and the system's own parts."""
