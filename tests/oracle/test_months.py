"""Generated months: digests and figures of their oracles."""

from collections import Counter
from functools import cache
from hashlib import sha256

import pytest

from harness.calendar import Period, rfc3339
from harness.month import FAULTS, generate
from harness.oracle import document
from harness.oracle.fold import fold
from harness.oracle.traffic import OUTGOING, count_samples, samples

P, M, D, R, S, H = FAULTS
FOUR = (D, R, S, H)


@cache
def month(seed=1, period="2026-07", cloud="os-sim", faults=()):
    return generate(seed, Period.parse(period), cloud, faults)


@cache
def oracle(seed=1, period="2026-07", cloud="os-sim", faults=()):
    return fold(month(seed, period, cloud, faults))


def digest(subject):
    return sha256(document.encode(subject)).hexdigest()


def touched(subject, *names):
    return sum(bool(set(names) & set(resource.faults)) for resource in subject.resources)


slow = pytest.mark.slow

CLEAN = [
    (
        (1, "2026-07", "os-sim"),
        (990, 75, 757, 37038644131012, 16566411288100, 320578),
        "cbac749b1f96f6fdd561a2d8ce75ed6525eda58bc1697141f01b303f75cf4134",
    ),
    (
        (2, "2026-07", "os-sim"),
        (1013, 74, 775, 36109771679317, 16187555561037, 337108),
        "c5185b43de39209a53c5c04992f4ad88eaa6e5e8a1f8474c09c8835c90b92ed1",
    ),
    (
        (3, "2026-07", "os-sim"),
        (918, 75, 700, 34042716110308, 15260493817630, 324502),
        "14041f8bb5a5d0904a1b6d2ca6026fd890a58588344227fd5d6f1bef38cbbe2b",
    ),
    (
        (4, "2026-07", "os-sim"),
        (982, 75, 743, 33988245494609, 15280267082038, 330592),
        "75bbe5196710b8f9bdd99492f1a0a6011945250b5ecab118f59dcfff5e9033cf",
    ),
    (
        (5, "2026-07", "os-sim"),
        (976, 75, 753, 32632188259943, 14686512255104, 318662),
        "d29bb1205119867832d0502ee27ae37ff47ea613630588b2315a9f4c1b656f77",
    ),
    (
        (1, "2026-02", "os-sim"),
        (866, 75, 672, 31869219992512, 14337181253161, 292772),
        "68a72ef4721dab5ebd544fed4ed77fd27e9a58c1e77d2ad34f14efd7b265c156",
    ),
    (
        (1, "2026-07", "os-prod"),
        (990, 75, 757, 34287544058256, 15696258246864, 320578),
        "2b3ada00b5e1647b7ff953db23163d6d43702fb4c0bceca8c932114e8445b5cf",
    ),
]


@pytest.mark.parametrize(
    ("name", "figures", "expected"),
    [
        pytest.param(*row, id="-".join(map(str, row[0])), marks=[slow] if i else [])
        for i, row in enumerate(CLEAN)
    ],
)
def test_months_without_switches(name, figures, expected):
    subject = oracle(*name)
    assert (
        sum(len(resource.intervals) for resource in subject.resources),
        len(subject.counts),
        len(subject.traffic),
        sum(row.egress_bytes for row in subject.traffic),
        sum(row.ingress_bytes for row in subject.traffic),
        count_samples(subject),
    ) == figures
    assert digest(subject) == expected
    assert sum(row.count for row in subject.counts) == sum(
        transition.kind.value == "booked" for transition in month(*name).stream
    )


@pytest.mark.parametrize(
    ("seed", "period", "cloud", "types"),
    [
        (1, "2026-07", "os-sim", (17, 9, 671, 5, 169)),
        pytest.param(2, "2026-07", "os-sim", (17, 9, 708, 5, 177), marks=slow),
        pytest.param(3, "2026-07", "os-sim", (16, 9, 624, 4, 151), marks=slow),
        pytest.param(4, "2026-07", "os-sim", (17, 9, 686, 5, 171), marks=slow),
        pytest.param(5, "2026-07", "os-sim", (17, 9, 686, 5, 158), marks=slow),
        pytest.param(1, "2026-02", "os-sim", (16, 9, 586, 4, 136), marks=slow),
    ],
)
def test_resources_by_type(seed, period, cloud, types):
    found = Counter(resource.resource_type for resource in oracle(seed, period, cloud).resources)
    assert tuple(count for _, count in sorted(found.items())) == types


SWITCHED = [
    ((P,), {P: 18}, 18, 951, (75, 1812), "29ea2823e4ef156b238910e97cdb60923748c8b7bf3e0d637d6c3675c11e9270"),
    ((M,), {M: 18}, 18, 951, (74, 1752), "30f0241fdba18470359a6cb087d4ecca2ca9b10b9b5ad09e1be1912e3da7661a"),
    ((D,), {D: 85}, 85, 990, (75, 1812), "257000d9d0828f635ec6306c5d3dae36c3b27a4dfe3826eeaa51e3ec5479ba68"),
    ((R,), {R: 87}, 87, 990, (75, 1812), "949a4d8319ea9276e80e1a9d9118a8c3e5e76094368238ec63787bdd3fc57320"),
    ((S,), {S: 84}, 84, 990, (75, 1812), "73f3135d0d78969c3fa950c8235fb848238445bff9feb1cc875dbff1eeb762b3"),
    ((H,), {H: 81}, 81, 990, (75, 1812), "82a7d7d857c2f55a40ea6a4789726480c3ddd603ad37b8bcc842e9a2f44eec68"),
    ((R, H), {R: 80, H: 81}, 160, 990, (75, 1812), "236d3f5e67e6946dd31a0edb8c4e343a9c8c01dc4f70deb1c30a371606bc424e"),
    ((D, H), {D: 80, H: 81}, 154, 990, (75, 1812), "330ec0483115b2793a16780925c1d6a75e4a0fdfc85085428bbb64f6b8d62791"),
    ((S, H), {S: 80, H: 81}, 157, 990, (75, 1812), "4237fc87f29b51aa5820ea2dfb9bef2d1f6edeb8b6d9cad33f64b22da8eb5b9c"),
    ((D, R), {D: 85, R: 87}, 165, 990, (75, 1812), "761bbe37bbc58a2acc390ebd21cf4bc683ba740edaeb48dda5610ea71c7f945e"),
    ((R, S), {R: 87, S: 84}, 163, 990, (75, 1812), None),
    ((D, S), {D: 85, S: 84}, 166, 990, (75, 1812), "ef44bcb943bbce53de8dba166f4b6877e8c5a3b3988aac89094256f85a89f066"),
    (FOUR, {D: 80, R: 80, S: 80, H: 81}, 294, 990, (75, 1812), "7024b91298b984ed1e47bd9955789eee1da38695a9b0699fc020d0ffab8dff5c"),
    ((P, *FOUR), {P: 18, D: 81, R: 81, S: 80, H: 83}, 308, 951, (75, 1812), "454de4e2c41037517d4f707898b9ba100f1db6e62ce0408b3b2eba6a2d0fce4f"),
    ((M, *FOUR), {M: 18, D: 77, R: 75, S: 83, H: 80}, 293, 951, (74, 1752), "dd9f1e9c35458488c5e8374e8c9e11e39e85a4448ff3d102a04882310c6a6594"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("faults", "marks", "any_mark", "intervals", "counts", "expected"),
    [
        pytest.param(*row, id="+".join(row[0]), marks=[] if len(row[0]) == 5 else [slow])
        for row in SWITCHED
    ],
)
def test_months_with_switches(faults, marks, any_mark, intervals, counts, expected):
    subject = oracle(faults=faults)
    assert len(subject.resources) == 871
    assert {name: touched(subject, name) for name in faults} == marks
    assert touched(subject, *faults) == any_mark
    assert sum(len(resource.intervals) for resource in subject.resources) == intervals
    assert (len(subject.counts), sum(row.count for row in subject.counts)) == counts
    if expected:
        assert digest(subject) == expected


@slow
@pytest.mark.parametrize(
    ("switch", "types"),
    [
        (P, (5, 0, 5, 0, 8)),
        (M, (5, 0, 5, 0, 8)),
        (D, (2, 1, 60, 1, 21)),
        (R, (1, 0, 69, 0, 17)),
        (S, (1, 0, 81, 0, 2)),
        (H, (2, 1, 62, 1, 15)),
    ],
)
def test_touched_resources_by_type(switch, types):
    found = Counter(r.resource_type for r in oracle(faults=(switch,)).resources if r.faults)
    kinds = ("floating_ip", "image", "instance", "loadbalancer", "volume")
    assert tuple(found[kind] for kind in kinds) == types


@slow
@pytest.mark.parametrize(
    ("seed", "period", "marks", "four"),
    [
        (2, "2026-07", (10, 10, 111, 75, 96, 68), 297),
        (1, "2026-02", (18, 18, 72, 76, 74, 75), 251),
    ],
)
def test_other_months_with_switches(seed, period, marks, four):
    found = tuple(
        touched(fold(generate(seed, Period.parse(period), "os-sim", (name,))), name)
        for name in FAULTS
    )
    assert found == marks
    assert touched(fold(generate(seed, Period.parse(period), "os-sim", FOUR)), *FOUR) == four


@slow
def test_months_that_begin_before_their_first_instant():
    early, missing, plain = oracle(faults=(P,)), oracle(faults=(M,)), oracle()
    assert early.traffic == missing.traffic
    assert (
        len(early.traffic),
        sum(row.egress_bytes for row in early.traffic),
        sum(row.ingress_bytes for row in early.traffic),
    ) == (718, 37789711501199, 16754178128255)
    assert [r.intervals for r in early.resources] == [r.intervals for r in missing.resources]
    moved = {
        r.resource_id
        for r, other in zip(early.resources, plain.resources, strict=True)
        if r.intervals != other.intervals
    }
    assert moved == {r.resource_id for r in early.resources if r.faults}
    assert len(moved) == 18


@slow
@pytest.mark.parametrize(
    ("step", "egress", "ingress", "idle", "expected"),
    [
        (30, 37070401130729, 16581839380019, 39, "e0230ccf56ab0939510e0f600a8087a38ee13e71f6aff63c8b758bb3f6865636"),
        (60, 37066975785076, 16580150913212, 39, "ea697883dfbddcaec1179167a2c759f138b50279dcf8a59c697a262cbf50f934"),
        (3600, 36707435399958, 16407950275156, 322, "0f4bcceacd8f0730581913664ce6944c15aa173fc20f77c8656e899d9870d920"),
        (86400, 4705617708882, 1936149782022, 698, "9d3f7e1bda14171acb1098b0d8b36efd35ac4aba97544e1c11747dbf5fb7f0fb"),
    ],
)  # fmt: skip
def test_other_grids(step, egress, ingress, idle, expected):
    subject = fold(month(), step)
    assert (
        sum(row.egress_bytes for row in subject.traffic),
        sum(row.ingress_bytes for row in subject.traffic),
        sum(row.egress_bytes == 0 for row in subject.traffic),
    ) == (egress, ingress, idle)
    assert digest(subject) == expected


def test_what_seed_1_is_made_of():
    subject = oracle()
    assert Counter((r.resource_type, r.workload) for r in subject.resources) == {
        ("instance", "ci"): 471,
        ("instance", "gardener"): 188,
        ("instance", "classic"): 12,
        ("volume", "gardener"): 149,
        ("volume", "classic"): 20,
        ("floating_ip", "classic"): 12,
        ("floating_ip", "gardener"): 5,
        ("image", "classic"): 6,
        ("image", "gardener"): 2,
        ("image", "ci"): 1,
        ("loadbalancer", "gardener"): 5,
    }
    assert Counter((r.resource_type, i.state) for r in subject.resources for i in r.intervals) == {
        ("instance", "active"): 718,
        ("instance", "shutoff"): 29,
        ("instance", "shelved"): 10,
        ("volume", "available"): 172,
        ("volume", "in-use"): 24,
        ("floating_ip", "active"): 17,
        ("image", "active"): 9,
        ("loadbalancer", "active"): 11,
    }
    events = Counter()
    for row in subject.counts:
        events[row.event_type] += row.count
    assert events == {
        "compute.instance.create.end": 671,
        "compute.instance.delete.end": 659,
        "compute.instance.power_off": 29,
        "compute.instance.power_on": 29,
        "compute.instance.resize.end": 7,
        "compute.instance.resize.confirm.end": 6,
        "compute.instance.resize.revert.end": 1,
        "compute.instance.shelve": 10,
        "compute.instance.unshelve": 10,
        "floatingip.create.end": 17,
        "floatingip.delete.end": 7,
        "image.create": 9,
        "image.delete": 3,
        "octavia.loadbalancer.create.end": 5,
        "octavia.loadbalancer.update.end": 6,
        "octavia.loadbalancer.delete.end": 1,
        "volume.create.end": 169,
        "volume.delete.end": 146,
        "volume.resize.end": 18,
        "volume.retype": 6,
        "volume.transfer.accept.end": 3,
    }


def test_the_traffic_of_one_instance_of_seed_1():
    name = "079faae9-9d39-426f-a963-769cb12aa629"
    rows = [row for row in oracle().traffic if row.resource_id == name]
    assert [(rfc3339(row.start)[8:], row.egress_bytes, row.ingress_bytes) for row in rows] == [
        ("01T03:17:02Z", 39956080648, 9989019968),
        ("02T05:36:15Z", 0, 0),
        ("02T16:16:25Z", 57453777272, 14363443912),
        ("05T04:36:37Z", 0, 0),
        ("07T00:41:09Z", 40993315236, 10248328597),
        ("08T06:04:56Z", 0, 0),
        ("09T17:11:32Z", 8929236951, 2232309177),
        ("10T02:26:24Z", 45751065194, 11437765968),
        ("12T03:34:36Z", 0, 0),
        ("13T06:18:14Z", 607999863672, 151999962680),
    ]
    assert sum(row.egress_bytes for row in rows) == 801083338973


@slow
def test_every_sample_of_seed_1():
    lines, last = sha256(), 0
    for sample in samples(oracle()):
        name = sample.labels["resource_id"]
        lines.update(
            f"{rfc3339(sample.instant)} {sample.name} {name} {sample.labels['project_id']} "
            f"{sample.value}\n".encode()
        )
        if name == "079faae9-9d39-426f-a963-769cb12aa629" and sample.name == OUTGOING:
            last = sample.value
    assert lines.hexdigest() == "aec5a74a78e2b1d86c5ca3b73229759a70bf3429894f2ee9590c914f19dd41c3"
    assert last == 801060790395


def test_what_is_read_back_encodes_to_the_same_bytes(tmp_path):
    path = tmp_path / "oracle.json"
    document.write(oracle(), path)
    assert document.read(path) == oracle()
    assert document.encode(document.read(path)) == path.read_bytes()
