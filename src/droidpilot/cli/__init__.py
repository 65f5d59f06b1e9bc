"""The door for people and shells: the `droidpilot` command. It must never decide what a call may do."""
