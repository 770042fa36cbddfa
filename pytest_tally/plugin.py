"""The plugin: what it adds to a pytest run that asks for it."""
