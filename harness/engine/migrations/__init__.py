"""The schema versions of the engine's database."""
