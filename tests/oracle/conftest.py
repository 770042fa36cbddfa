"""A small month and an engine's export of it, to be bent by the tests."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness import pricing
from harness.calendar import rfc3339
from harness.oracle import Interval, Oracle, Resource
from harness.oracle.compare import compare, expected_quantity
from harness.pricing import Kind

START, END = 1782864000, 1785542400
HEADER = [
    "run_id",
    "kind",
    "corrects_run_id",
    "period_from",
    "period_to",
    "cloud",
    "platform",
    "resource_type",
    "resource_id",
    "project_id",
    "state",
    "from_ts",
    "to_ts",
    "dimension",
    "quantity",
    "amount",
    "currency",
]


def resource(kind, name, *spans, faults=()):
    intervals = tuple(
        Interval(START + start, START + end, state, project, size)
        for start, end, state, project, size in spans
    )
    return Resource(kind, name, "classic", intervals, faults)


SMALL = {"vcpus": 1, "ram_gb": 2, "disk_gb": 20, "flavor": "m1.small"}
LARGE = {"vcpus": 4, "ram_gb": 8, "disk_gb": 80, "flavor": "m1.large"}

RESOURCES = (
    resource("floating_ip", "f-1", (10, 900, "active", "p-1", {"ip_version": 4})),
    resource("image", "m-1", (10, 900, "active", "p-1", {"size_gb": 2})),
    resource("image", "m-2", (10, 900, "active", "p-1", {"size_gb": 2})),
    resource(
        "instance",
        "i-1",
        (100, 200, "active", "p-1", SMALL),
        (200, 300, "shutoff", "p-1", SMALL),
        (300, 400, "active", "p-1", LARGE),
    ),
    resource("instance", "i-2", (500, 600, "active", "p-2", LARGE)),
    resource("loadbalancer", "l-1", (10, 90, "active", "p-1", {"listeners": 0, "pools": 0})),
    resource("volume", "v-1", (100, 900, "available", "p-1", {"size_gb": 10, "type": "ssd"})),
)


@dataclass
class Bench:
    """An oracle, an export of it, and the model both were made with."""

    directory: Path
    resources: tuple = RESOURCES
    model: pricing.PricingModel = field(default_factory=lambda: pricing.read("2026-03"))
    faults: tuple = ()
    cloud: str = "os-test"
    rows: list = field(default_factory=list)
    header: list = field(default_factory=lambda: list(HEADER))

    def __post_init__(self):
        self.bill()

    @property
    def oracle(self):
        return Oracle(self.cloud, 1, START, END, self.resources, (), self.faults, ())

    def bill(self):
        """Rate the oracle as a faultless engine would."""
        self.rows = [
            {
                "run_id": "r-1",
                "kind": "regular",
                "corrects_run_id": "",
                "period_from": rfc3339(START),
                "period_to": rfc3339(END),
                "cloud": self.cloud,
                "platform": "openstack",
                "resource_type": thing.resource_type,
                "resource_id": thing.resource_id,
                "project_id": interval.project_id,
                "state": interval.state,
                "from_ts": rfc3339(interval.start),
                "to_ts": rfc3339(interval.end),
                "dimension": dimension.metric,
                "quantity": str(
                    expected_quantity(dimension.metric, interval)
                    if dimension.kind is Kind.TIME_GAUGE
                    else "99.9999"
                ),
                "amount": "0.00",
                "currency": "EUR",
            }
            for thing in self.resources
            for interval in thing.intervals
            for dimension in self.dimensions(thing.resource_type)
        ]

    def dimensions(self, kind):
        tariff = self.model.tariff("openstack", kind)
        return tariff.dimensions if tariff else ()

    def find(self, name, at=None, dimension=None):
        """The rows of a resource, of one of its intervals, of one of its dimensions."""
        return [
            row
            for row in self.rows
            if row["resource_id"] == name
            and at in {None, self.at(row)}
            and dimension in {None, row["dimension"]}
        ]

    @staticmethod
    def at(row):
        return int(row["from_ts"][14:16]) * 60 + int(row["from_ts"][17:19])

    def drop(self, rows):
        self.rows = [row for row in self.rows if row not in rows]

    def write(self):
        with (self.directory / "rated.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, self.header, lineterminator="\n", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(self.rows)

    def compare(self):
        self.write()
        return compare(self.oracle, self.directory, self.model)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)
