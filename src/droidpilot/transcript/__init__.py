"""The record of a session: written once, chained, never edited. Knows events and files; no phone, policy or model."""
