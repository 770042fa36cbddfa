"""Algebra of metering and rating, on random histories."""

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.engine import Samples
from harness.engine.metering import Meter
from harness.engine.rating import Rater
from harness.engine.record import History, Resource
from harness.pricing import read
from harness.timeline import Category, Event, category

SECOND = 1_000_000
MONTH = 2_678_400
START = 1772323200 * SECOND
END = START + MONTH * SECOND
RESOURCE = Resource("c", "openstack", "instance", "r")
CENT = Decimal("0.01")
FLAVORS = [
    {"vcpus": 1, "ram_gb": Decimal("0.5"), "disk_gb": 10, "flavor": "tiny"},
    {"vcpus": 4, "ram_gb": 8, "disk_gb": 80, "flavor": "large"},
    {"vcpus": 16, "ram_gb": 36, "disk_gb": 160, "flavor": "huge"},
]

seconds = st.integers(-100, MONTH + 100)
changes = st.lists(
    st.tuples(
        seconds,
        st.sampled_from(["active", "shutoff", "shelved"]),
        st.none() | st.sampled_from(FLAVORS),
        st.sampled_from(["p", "q"]),
    ),
    max_size=6,
    unique_by=lambda change: change[0],
)


def lived(created, changes, deleted):
    """A history of one life: a create, changes inside it, a delete unless it stays."""
    events = [event(created, "create", "active", FLAVORS[1], "p")]
    events += [
        event(at, "change", state, size, project)
        for at, state, size, project in sorted(changes, key=lambda change: change[0])
        if created < at and (deleted is None or at < deleted)
    ]
    if deleted is not None:
        events.append(event(deleted, "delete", None, None, "p"))
    return History(RESOURCE, events)


def event(second, kind, state, size, project):
    return Event(START + second * SECOND, 0, f"{second:+}", f"x.{kind}", state, size, project)


def metered(history, sources=()):
    result = Meter(START, END, sources).meter(history)
    assert not result.violations
    return result.records


def rated(records):
    return Rater(read("2026-03")).rate(records)


@given(seconds, changes, st.none() | st.integers(1, MONTH))
@settings(max_examples=100, deadline=None)
def test_records_say_what_the_newest_event_says_second_by_second(created, changes, length):
    history = lived(created, changes, None if length is None else created + length)
    records = metered(history)
    edges = {0, MONTH - 1}
    for told in history.events:
        second = (told.timestamp - START) // SECOND
        edges |= {second - 1, second, second + 1}
    for second in sorted(edge for edge in edges if 0 <= edge < MONTH):
        instant = START + second * SECOND
        found = [
            (record.state, record.project_id, {name: record.usage[name] for name in FLAVORS[0]})
            for record in records
            if record.start <= instant < record.end
        ]
        past = [told for told in history.events if told.timestamp <= instant]
        if not past or category(past[-1].event_type) is Category.DELETE:
            assert found == []
            continue
        size = next(told.size for told in reversed(past) if told.size is not None)
        assert found == [(past[-1].state, past[-1].project_id, size)]
    total = sum(record.seconds for record in records)
    assert total == max(
        0, min(MONTH, MONTH if length is None else created + length) - max(0, created)
    )


@given(seconds, changes, st.none() | st.integers(1, MONTH), st.integers(1, MONTH - 1))
@settings(max_examples=100, deadline=None)
def test_splitting_changes_no_quantity_and_no_amount_beyond_rounding(created, changes, length, cut):
    """The bound: half a cent for every record, and what their minutes were rounded by.

    An amount is off its exact value by at most 0.005, and minutes by 0.00005, which a unit and
    hour price of `rate` turns into ``rate * 0.00005 / 60``. Splitting one record in two compares
    three.
    """
    deleted = None if length is None else created + length
    whole = metered(lived(created, changes, deleted))
    for record in whole:
        if not record.start < START + cut * SECOND < record.end:
            continue
        parts = [
            part
            for part in metered(
                lived(created, [*changes, (cut, record.state, None, "somebody else")], deleted)
            )
            if record.start <= part.start and part.end <= record.end
        ]
        # A change that repeated what was open changed nothing; behind the cut it does.
        repeats = any(
            record.start < START + at * SECOND < record.end and at > cut for at, *_ in changes
        )
        assert len(parts) == 2 + repeats
        assert sum(part.seconds for part in parts) == record.seconds
        one = {entry.dimension: entry for entry in rated([record])}
        for dimension, entry in one.items():
            cells = [cell for cell in rated(parts) if cell.dimension == dimension]
            assert {cell.quantity for cell in cells} == {entry.quantity}
            price = {"vcpus": "0.02", "ram_gb": "0.005", "disk_gb": "0.001", "egress_gb": "0"}
            rate = entry.quantity * Decimal(price[dimension])
            bound = (len(parts) + 1) * (Decimal("0.005") + rate * Decimal("0.00005") / 60)
            assert abs(sum(cell.amount for cell in cells) - entry.amount) <= bound


@given(
    st.lists(st.tuples(st.integers(0, MONTH - 1), st.integers(0, 1 << 36)), max_size=30),
    st.lists(st.integers(1, MONTH - 1), max_size=5, unique=True),
)
@settings(max_examples=100, deadline=None)
def test_splitting_loses_no_increment_of_a_counter(steps, cuts):
    """The bound: half of the fourth place for every record."""
    source = Samples([("r", START + at * SECOND, size) for at, size in steps])
    changes = [(cut, "active", None, f"project {cut}") for cut in cuts]
    (whole,) = metered(lived(0, [], None), [source])
    parts = metered(lived(0, changes, None), [source])
    assert len(parts) == len(cuts) + 1
    assert (
        abs(whole.usage["egress_gb"] * (1 << 30) - sum(size for _, size in steps))
        <= (1 << 30) / 20000
    )
    off = sum(part.usage["egress_gb"] for part in parts) - whole.usage["egress_gb"]
    assert abs(off) <= Decimal("0.00005") * (len(parts) + 1)


@given(seconds, changes, st.none() | st.integers(1, MONTH))
@settings(max_examples=50, deadline=None)
def test_every_dimension_has_a_row_of_two_places(created, changes, length):
    records = metered(lived(created, changes, None if length is None else created + length))
    rows = rated(records)
    assert [row.dimension for row in rows] == ["disk_gb", "egress_gb", "ram_gb", "vcpus"] * len(
        records
    )
    for row in rows:
        assert row.amount.as_tuple().exponent == -2
        assert row.quantity.as_tuple().exponent == -4
        assert row.amount >= 0
