"""The pytest plugin: options, fixtures, marks, report, packaged drills."""
