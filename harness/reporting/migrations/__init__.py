"""The kept migrations of the Reporting API's database, applied by `harness.reporting.migrate`."""
