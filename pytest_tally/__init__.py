"""A pytest plugin that drills months of an OpenStack cloud through a billing pipeline."""
