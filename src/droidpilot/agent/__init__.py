"""The loop that turns a goal into calls. It never touches a phone: it asks a model and submits what the model wants."""
