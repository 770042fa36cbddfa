"""One module per schema version, numbered from 0001."""
