"""The fold of events to intervals, for the Reporting API and the engine."""
