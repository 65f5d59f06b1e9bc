"""What may be done: rules that a person wrote, and reasons to worry. Pure but for reading files; knows no phone."""
