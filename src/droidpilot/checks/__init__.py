"""Post-conditions: what must be seen on the phone after `done`. Looked at through the road, like everything else."""
