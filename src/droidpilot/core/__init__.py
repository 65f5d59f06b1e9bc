"""Words and values that every room speaks. No input or output except in config and clock."""
