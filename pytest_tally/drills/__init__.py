"""Packaged drills: ``pytest --pyargs pytest_tally.drills --tally-seed=1..5`` in any repository."""
