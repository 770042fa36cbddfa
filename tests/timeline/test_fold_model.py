"""The fold against a model that looks at every second of a history on its own."""

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.timeline import Category, Event, category, fold

HORIZON = 40

events = st.lists(
    st.builds(
        Event,
        timestamp=st.integers(0, HORIZON - 1),
        received_at=st.integers(0, 3),
        event_id=st.text("abc", min_size=1, max_size=3),
        event_type=st.sampled_from(["x.create", "x.change", "x.change", "x.delete"]),
        state=st.sampled_from([None, "active", "shutoff"]),
        size=st.sampled_from([None, {"n": 1}, {"n": 2}]),
        project_id=st.sampled_from(["p", "q"]),
    ),
    max_size=12,
    unique_by=lambda event: (event.timestamp, event.event_id),
)


def at_second(history, second):
    """What a resource is at a second: looked up anew from all events up to it."""
    past = [event for event in history if event.timestamp <= second]
    past.sort(key=lambda event: (event.timestamp, event.received_at, event.event_id))
    if not past or category(past[-1].event_type) is Category.DELETE:
        return None
    told = [event for event in past if category(event.event_type) is not Category.DELETE]
    state = next((event.state for event in reversed(told) if event.state), "")
    size = next((event.size for event in reversed(told) if event.size is not None), {})
    return state, size, past[-1].project_id


@given(events)
@settings(max_examples=100, deadline=None)
def test_fold_equals_the_second_by_second_model(history):
    timeline = fold(history)
    for second in range(HORIZON + 1):
        holding = [
            interval
            for interval in timeline.intervals
            if interval.start <= second and (interval.end is None or second < interval.end)
        ]
        found = [(interval.state, interval.size, interval.project_id) for interval in holding]
        expected = at_second(history, second)
        assert found == ([] if expected is None else [expected])


@given(events)
@settings(max_examples=100, deadline=None)
def test_intervals_are_ordered_and_bounded_by_events(history):
    timeline = fold(history)
    instants = {event.timestamp for event in history}
    ends = [interval.end for interval in timeline.intervals]
    assert all(end is not None for end in ends[:-1])
    for interval in timeline.intervals:
        assert interval.start in instants
        assert interval.end is None or (interval.end in instants and interval.start < interval.end)
    for one, other in zip(timeline.intervals, timeline.intervals[1:], strict=False):
        assert one.end <= other.start
