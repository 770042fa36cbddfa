"""The PCG generator and its named streams."""
