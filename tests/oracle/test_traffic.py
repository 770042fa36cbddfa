"""Traffic in closed form against walking every step."""

import itertools
import json
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import prng
from harness.calendar import Period, rfc3339
from harness.calendar.profile import weight
from harness.oracle import Interval, Oracle, Resource
from harness.oracle.traffic import (
    INCOMING,
    LEVELS,
    OUTGOING,
    MetricsIntervalError,
    TrafficError,
    check_interval,
    count_samples,
    increments,
    place,
    samples,
)

JULY = Period(2026, 7)


def instance(number, *spans, workload="classic"):
    intervals = tuple(
        Interval(JULY.start + start, JULY.start + end, state, project, {})
        for start, end, state, project in spans
    )
    return Resource("instance", f"i-{number:02}", workload, intervals, ())


def oracle(resources, step=300, seed=1):
    resources = tuple(resources)
    rows = place(resources, seed, JULY.start, JULY.end, step)
    return Oracle("os-test", seed, JULY.start, JULY.end, resources, (), (), rows)


@st.composite
def lives(draw):
    cuts = sorted(draw(st.sets(st.integers(0, JULY.end - JULY.start), min_size=2, max_size=7)))
    spans = [
        (
            start,
            end,
            draw(st.sampled_from(["active", "active", "shutoff"])),
            draw(st.sampled_from("pq")),
        )
        for start, end in itertools.pairwise(cuts)
    ]
    kept = [span for span in spans if draw(st.integers(0, 4))] or spans[:1]
    return kept, draw(st.sampled_from(sorted(LEVELS)))


@given(
    st.lists(lives(), min_size=1, max_size=3),
    st.sampled_from([977, 3600, 5400, 86400]),
    st.integers(0, 2**64 - 1),
)
@settings(deadline=None, max_examples=40)
def test_rows_samples_and_increments_agree_with_a_walk_of_every_step(given_lives, step, seed):
    resources = [
        instance(number, *spans, workload=workload)
        for number, (spans, workload) in enumerate(given_lives)
    ]
    subject = oracle(resources, step, seed)
    stream = prng.traffic(seed)
    sums, seen, added = defaultdict(lambda: [0, 0]), [], []
    for resource in resources:
        jitter = 50 + stream.below(101)
        running = [0, 0]
        project = resource.intervals[0].project_id
        for at in range(JULY.start, JULY.end, step):
            if not resource.intervals[0].start <= at < resource.intervals[-1].end:
                continue
            inside = [i for i in resource.intervals if i.start <= at < i.end]
            project = inside[0].project_id if inside else project
            seen += [
                (at, OUTGOING, resource.resource_id, project, running[0]),
                (at, INCOMING, resource.resource_id, project, running[1]),
            ]
            if inside and inside[0].state == "active":
                moved = [
                    level * weight(at) * step * jitter // 3_600_000
                    for level in LEVELS[resource.workload]
                ]
                added.append((resource.resource_id, rfc3339(at), "egress_gb", moved[0]))
                for place_ in (0, 1):
                    running[place_] += moved[place_]
                    sums[resource.resource_id, inside[0].start][place_] += moved[place_]
    assert [
        (row.resource_id, row.start, row.end, row.egress_bytes, row.ingress_bytes)
        for row in subject.traffic
    ] == [
        (r.resource_id, i.start, i.end, *sums[r.resource_id, i.start])
        for r in resources
        for i in r.intervals
    ]
    seen.sort(key=lambda sample: sample[:3])
    assert [
        (s.instant, s.name, s.labels["resource_id"], s.labels["project_id"], s.value)
        for s in samples(subject, step)
    ] == seen
    assert count_samples(subject, step) == len(seen)
    assert [tuple(json.loads(line).values()) for line in increments(subject, step)] == added


def test_the_first_jitters_of_seed_1():
    stream = prng.traffic(1)
    assert [50 + stream.below(101) for _ in range(10)] == [
        138,
        87,
        76,
        74,
        78,
        53,
        111,
        56,
        112,
        96,
    ]


def test_an_instance_without_a_step_takes_its_jitter_and_a_zero_row():
    short = instance(0, (1, 2, "active", "p"))
    long = instance(1, (0, 300, "active", "p"))
    both, alone = oracle([short, long]), oracle([long])
    assert both.traffic[0].egress_bytes == both.traffic[0].ingress_bytes == 0
    assert both.traffic[1].egress_bytes == (2 << 30) * 300 * 87 // 3_600_000
    assert alone.traffic[0].egress_bytes == (2 << 30) * 300 * 138 // 3_600_000


def test_a_step_at_the_end_is_not_taken_and_one_at_the_start_is():
    subject = oracle([instance(0, (300, 600, "active", "p"))])
    assert [s.instant - JULY.start for s in samples(subject)] == [300, 300]
    assert subject.traffic[0].egress_bytes > 0


def test_every_sample_names_the_cloud_and_is_cumulative():
    (incoming, _) = samples(oracle([instance(0, (0, 300, "active", "p"))]))
    assert incoming.cumulative
    assert incoming.labels == {
        "platform": "openstack",
        "cloud": "os-test",
        "resource_type": "instance",
        "resource_id": "i-00",
        "project_id": "p",
    }


def test_other_types_move_nothing():
    volume = Resource(
        "volume", "v", "classic", (Interval(JULY.start, JULY.end, "in-use", "p", {}),), ()
    )
    assert oracle([volume]).traffic == ()


def test_an_unknown_workload_is_refused():
    with pytest.raises(TrafficError, match='instance i-00 runs the workload "hpc"'):
        oracle([instance(0, (0, 300, "active", "p"), workload="hpc")])


@pytest.mark.parametrize("seconds", [0, 29, 86401, -300, 90.5])
def test_a_grid_too_fine_too_coarse_or_fractional_is_refused(seconds):
    with pytest.raises(MetricsIntervalError, match=f"--metrics-interval: {seconds:g}s must be"):
        check_interval(seconds)


@pytest.mark.parametrize("seconds", [30, 300, 86400, 300.0])
def test_whole_seconds_within_bounds_are_taken(seconds):
    assert check_interval(seconds) == seconds
