"""Reconciliation: what a cloud says it holds, against what its events say.

`observation` is what an adapter brings back, `corrections` decides what to book, `openstack` asks
an OpenStack cloud, `sync` does one run from the question to the booked events.
"""
