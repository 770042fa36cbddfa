"""The order of skip counters is the one of the documented table."""

from harness.drill.table import in_table_order


def test_most_frequent_first_and_ties_as_in_the_table():
    counters = {
        "unheard.of": 1,
        "port.create.end": 676,
        "port.create.start": 676,
        "compute.instance.update": 2672,
        "network.delete.end": 1,
        "compute.instance.resize.revert.start": 1,
        "a.stranger": 1,
    }
    assert list(in_table_order(counters)) == [
        "compute.instance.update",
        "port.create.start",
        "port.create.end",
        "compute.instance.resize.revert.start",
        "network.delete.end",
        "a.stranger",
        "unheard.of",
    ]
