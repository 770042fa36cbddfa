"""Where the simulated cloud can be asked: over HTTP, by a scrape, through what it pushes."""
