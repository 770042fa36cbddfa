"""One month through one stack to one verdict."""
