"""The cable pulled at random moments, compared with the phone's own truth: `python -m tests.cables [N] [SEED]`."""
