"""The reference Reporting API: the service that keeps the events."""
