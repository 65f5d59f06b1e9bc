"""Long runs: many phones in one process, many clients, one step a second each. See __main__.py."""
