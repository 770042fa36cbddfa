"""Which draws a month makes, in which order, and how many of each stream."""

from __future__ import annotations

import pytest

from harness import prng
from harness.calendar import Period
from harness.calendar.instant import DAY
from harness.month import audits, ci, classic, gardener, generation, shoot_days, world
from harness.month.draft import Draft
from harness.month.model import Kind
from harness.prng import Identifiers, Pcg, fnv1a64

PERIOD = Period.parse("2026-07")

# Words of the shape, identifier and noise identifier stream consumed, then transitions and booked
# ones among them, after each stage.
STAGES = {
    1: {
        "world": (12, 409, 22, 0, 0),
        "classic 1": (114, 409, 40, 168, 57),
        "classic 2": (215, 409, 60, 340, 114),
        "classic 3": (319, 409, 80, 517, 174),
        "shoot api-prod": (725, 543, 214, 1444, 289),
        "shoot api-dev": (1615, 1099, 888, 5206, 828),
        "shoot batch": (1755, 1147, 956, 5554, 869),
        "ci": (4058, 2089, 2162, 14647, 1812),
        "audits": (4058, 2089, 2162, 15741, 1812),
        "ids": (4058, 5731, 30002, 15741, 1812),
    },
    2: {
        "world": (12, 407, 22, 0, 0),
        "classic 1": (104, 407, 40, 150, 49),
        "classic 2": (197, 407, 60, 301, 97),
        "classic 3": (293, 407, 78, 461, 150),
        "shoot api-prod": (706, 545, 216, 1368, 264),
        "shoot api-dev": (1589, 1093, 1028, 5319, 787),
        "shoot batch": (1808, 1161, 1116, 5817, 850),
        "ci": (4302, 2179, 2424, 15645, 1869),
        "audits": (4302, 2179, 2424, 16799, 1869),
        "ids": (4302, 5935, 32266, 16799, 1869),
    },
}

# Of seed 1, bound:result.
FIRST_DRAWS = """
2:0 2:1 2:0 2:0 2:1 2:0 2:0 2:1 2:1 2:0 2:1 2:0
7200:2520 90:39 13:0 7200:6171 90:11 13:2 518400:186700
4:2 14400:3998 2:0 777600:591654 255600:36115 3:1 165600:116155 255600:237506 165600:28994
255600:150323 3:0 255600:207378 3:0 345600:30211
4:0 4:3 14400:11147 2:0 255600:66669 3:1 165600:35160 255600:89702 165600:95382 255600:48491
2:1 345600:318063
4:3 4:3 14400:8393 2:0 255600:115389 3:1 165600:146099 255600:57527 165600:22441 255600:224048
2:0 3:2 255600:139282 3:0 345600:69868
4:2 4:0 14400:4217 2:0 255600:95310 3:2 165600:91964 255600:141801 165600:61398 255600:160259
165600:157708 255600:149476 2:0 3:1 255600:40788 3:2
270:192 3:0 3:0 270:218
"""


class Counted(Pcg):
    """A generator that counts its words and remembers its bounded draws."""

    def __init__(self, p: int, q: int) -> None:
        super().__init__(p, q)
        self.count = 0
        self.draws: list[str] = []

    def words(self, count: int) -> list[int]:
        self.count += count
        return super().words(count)

    def below(self, bound: int) -> int:
        drawn = super().below(bound)
        self.draws.append(f"{bound}:{drawn}")
        return drawn


class Watched:
    """A draft over counted streams, and what was counted after each stage."""

    def __init__(self, seed: int) -> None:
        self.shape = Counted(seed, 1)
        self.ids = Counted(seed, fnv1a64(b"os-sim\x002026-07"))
        self.noise_ids = Counted(seed, fnv1a64(b"noise\x00os-sim\x002026-07"))
        ids, noise_ids = Identifiers(self.ids), Identifiers(self.noise_ids)
        built = world.build("os-sim", self.shape, ids, noise_ids)
        self.draft = Draft(PERIOD, "os-sim", self.shape, ids, noise_ids, built)
        self.stages: dict[str, tuple[int, ...]] = {}
        self.mark("world")

    def mark(self, stage: str) -> None:
        transitions = self.draft.transitions
        booked = sum(transition.kind is Kind.BOOKED for transition in transitions)
        words = (self.shape.count, self.ids.count, self.noise_ids.count)
        self.stages[stage] = (*words, len(transitions), booked)


@pytest.mark.parametrize("seed", STAGES)
def test_words_and_transitions_after_each_stage(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(seed)
    draft = watched.draft
    for project in draft.world.classics:
        classic.generate(draft, project)
        watched.mark(f"classic {project.number}")
    live = shoot_days.generate

    def marking(draft, shoot, course, day):  # type: ignore[no-untyped-def]
        live(draft, shoot, course, day)
        watched.mark(f"shoot {shoot.plan.name}")

    monkeypatch.setattr(shoot_days, "generate", marking)
    for garden in draft.world.gardens:
        gardener.generate(draft, garden)
    ci.generate(draft)
    watched.mark("ci")
    audits.append(draft)
    watched.mark("audits")
    generation._schedule(draft)
    watched.mark("ids")
    assert watched.stages == STAGES[seed]


def test_first_draws_of_the_shape_stream() -> None:
    watched = Watched(1)
    classic.generate(watched.draft, watched.draft.world.classics[0])
    expected = FIRST_DRAWS.split()
    assert watched.shape.draws[: len(expected)] == expected


def test_streams_are_those_of_their_names() -> None:
    watched = Watched(1)
    shape, ids = prng.shape(1), prng.identifiers(1, "os-sim", "2026-07")
    for _ in range(12):
        shape.below(2)
    assert shape.word() == watched.shape.word()
    assert ids.uuid() == watched.draft.world.external_network_id


def test_the_course_of_the_shoots_of_seed_1(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(1)
    draft = watched.draft
    courses = {}

    def remember(draft, shoot, course, day):  # type: ignore[no-untyped-def]
        courses[shoot.plan.name] = course
        live(draft, shoot, course, day)

    live = shoot_days.generate
    monkeypatch.setattr(shoot_days, "generate", remember)
    for project in draft.world.classics:
        classic.generate(draft, project)
    for garden in draft.world.gardens:
        gardener.generate(draft, garden)

    def day(number: int) -> int:
        return draft.start + (number - 1) * DAY

    def at(number: int, hours: int, minutes: int, seconds: int) -> int:
        return day(number) + hours * 3600 + minutes * 60 + seconds

    course = shoot_days.Course
    assert courses == {
        "api-prod": course(3, at(1, 2, 12, 51), None, day(15), day(8), day(15)),
        "api-dev": course(4, at(1, 3, 45, 21), None, None, day(14), None),
        "batch": course(3, at(7, 18, 45, 37), at(20, 13, 28, 6)),
    }
