"""Recorded buses: record, scrub, verify, replay."""
