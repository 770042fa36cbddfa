"""The simulated cloud's other faces: control endpoint, OpenStack API, metrics."""
