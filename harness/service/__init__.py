"""What every service process of the harness needs: environment, logs, a listener."""
