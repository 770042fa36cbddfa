"""The routes, a module per part of the API; each lists what it serves as `ROUTES`."""
