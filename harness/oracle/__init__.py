"""What has to be billed for a month, folded from the generator's own facts."""

from harness.oracle.model import Count, Interval, Oracle, Resource, TrafficRow

__all__ = ["Count", "Interval", "Oracle", "Resource", "TrafficRow"]
