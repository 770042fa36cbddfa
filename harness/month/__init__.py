"""What the cloud did in a month, generated from a seed."""

from harness.month.model import Fact, Kind, Month, Relation, Tenant, Transition

__all__ = ["Fact", "Kind", "Month", "Relation", "Tenant", "Transition"]
