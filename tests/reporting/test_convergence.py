"""Any order, batching and repetition of a resource's events ends in the same projection."""

import random
from types import SimpleNamespace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.reporting import ingest, item, projection, wire
from harness.reporting.instant import rfc3339
from harness.reporting.projection import Step, advance, replay
from harness.reporting.reading import as_timeline
from harness.reporting.store import Store
from harness.timeline import fold

TYPES = [
    "volume.create.end",
    "volume.resize.end",
    "volume.delete.end",
    "sync.create",
    "sync.update",
]


def _events(ties):
    moments = st.integers(0, 5 if ties else 10**9).map(lambda s: s * 1_000_000)
    return st.lists(
        st.tuples(
            moments,
            st.sampled_from(TYPES),
            st.sampled_from(["available", "in-use"]),
            st.sampled_from(
                [
                    None,
                    '{"size_gb":1,"type":"a"}',
                    '{"size_gb":1.0,"type":"a"}',
                    '{"size_gb":2,"type":"a"}',
                ]
            ),
            st.sampled_from(["p", "q"]),
        ),
        min_size=1,
        max_size=8,
        unique_by=None if ties else lambda each: each[0],
    )


def _item(number, at, kind, state, size, project):
    if ".create" in kind and size is None:
        size = '{"size_gb":1,"type":"a"}'
    payload = {"state": state}
    if size is not None:
        payload["size"] = wire.decode(size)
    return item.read(
        wire.encode(
            {
                "event_id": f"e{number}",
                "timestamp": rfc3339(at),
                "event_type": kind,
                "platform": "openstack",
                "cloud": "os-sim",
                "resource_type": "volume",
                "resource_id": "v",
                "project_id": project,
                "payload": payload,
            }
        )
    )


def _row(store):
    with store.read() as connection:
        return projection.rows(connection, "os-sim", [("volume", "v")])["volume", "v"]


def _histories(store):
    with store.read() as connection:
        (steps,) = projection.histories(connection, "os-sim", [("volume", "v")])
    return steps


def _lifecycle(steps):
    return fold(
        as_timeline(SimpleNamespace(**{name: getattr(step, name) for name in step.__slots__}))
        for step in steps
    )


def _deliver(path, template, events, rng, *, repeats):
    path.write_bytes(template.read_bytes())
    store = Store(f"sqlite:///{path}")
    sequence = events * repeats
    rng.shuffle(sequence)
    while sequence:
        size = rng.randint(1, len(sequence))
        batch, sequence = sequence[:size], sequence[size:]
        with store.write("os-sim") as transaction:
            projection.fold(transaction, "os-sim", ingest.store(transaction, batch, "collector"))
    return store


def _check(tmp_path_factory, template, drawn, seed, *, ties):
    events = [_item(number, *each) for number, each in enumerate(drawn)]
    rng = random.Random(seed)
    directory = tmp_path_factory.mktemp("convergence")
    lifecycles, rows = [], []
    for round_ in range(2):
        store = _deliver(directory / f"{round_}.db", template, events, rng, repeats=1 + round_)
        row, steps = _row(store), _histories(store)
        assert len(steps) == len(events)
        assert row == replay(steps)
        timeline = _lifecycle(steps)
        assert row.created_at == timeline.created_at
        alive = bool(timeline.intervals) and timeline.intervals[-1].end is None
        assert (row.deleted_at is None) == alive
        if alive:
            last = timeline.intervals[-1]
            assert (row.state, row.project_id) == (last.state, last.project_id)
        else:
            assert row.deleted_at == timeline.deleted_at
        # A row tells the last size reported, by a delete too, which the fold passes over.
        ordered = sorted(steps, key=lambda step: step.place)
        assert row.size == next((step.size for step in reversed(ordered) if step.size), "{}")
        with store.write("os-sim") as transaction:
            assert projection.rebuild(transaction, "os-sim") == 1
        assert _row(store) == row
        rows.append(row)
        lifecycles.append(timeline)
        store.close()
    if not ties:
        assert rows[0] == rows[1]
        assert lifecycles[0] == lifecycles[1]


@given(drawn=_events(ties=False), seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_without_ties_nothing_depends_on_the_delivery(
    tmp_path_factory, sqlite_template, drawn, seed
):
    _check(tmp_path_factory, sqlite_template, drawn, seed, ties=False)


@example(
    drawn=[
        (0, "volume.create.end", "available", '{"size_gb":1,"type":"a"}', "p"),
        (1_000_000, "volume.delete.end", "available", '{"size_gb":2,"type":"a"}', "p"),
        (2_000_000, "volume.resize.end", "available", None, "p"),
    ],
    seed=0,
)
@given(drawn=_events(ties=True), seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_with_ties_row_and_lifecycle_are_the_replay_of_what_is_stored(
    tmp_path_factory, sqlite_template, drawn, seed
):
    _check(tmp_path_factory, sqlite_template, drawn, seed, ties=True)


def test_advance_follows_a_life_with_an_end_and_a_second_beginning():
    def step(at, kind, state="s", size=""):
        return Step(
            at,
            at,
            f"e{at}",
            kind,
            "openstack",
            "c",
            "volume",
            "v",
            "p",
            "collector",
            "{}",
            state,
            size,
        )

    row = None
    states = []
    for each in (
        step(1, "volume.create.end", size='{"a":1}'),
        step(2, "volume.delete.end"),
        step(3, "volume.resize.end", "t"),
        step(4, "volume.delete.end"),
        step(5, "sync.create", "u", '{"a":2}'),
    ):
        row = advance(row, each)
        states.append((row.state, row.size, row.created_at, row.deleted_at, row.first_event_at))
    assert states == [
        ("s", '{"a":1}', 1, None, 1),
        ("deleted", '{"a":1}', 1, 2, 1),
        ("t", '{"a":1}', 1, None, 1),
        ("deleted", '{"a":1}', 1, 4, 1),
        ("u", '{"a":2}', 1, None, 1),
    ]
