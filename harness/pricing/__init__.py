"""The pricing model's file and its reader."""
