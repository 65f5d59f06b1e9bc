"""What is broken on demand, and how that shows."""
