"""The document's spelling, and each refusal of its reader in its order."""

import copy
import json
from decimal import Decimal

import pytest

from harness.oracle import Count, Interval, Oracle, Resource, TrafficRow
from harness.oracle.document import (
    OracleError,
    OracleWriteError,
    encode,
    number,
    quote,
    read,
    write,
)

START, END = 1782864000, 1785542400

ORACLE = Oracle(
    cloud="os-<sim>",
    seed=2**64 - 1,
    start=START,
    end=END,
    resources=(
        Resource(
            "image",
            "m-1",
            "ci",
            (Interval(START + 5, END, "active", "p-1", {"size_gb": Decimal("1.250")}),),
            ("duplicates", "held-back"),
        ),
        Resource(
            "instance",
            "i-1",
            "classic",
            (
                Interval(START, START + 60, "active", "p-1", {"vcpus": 2, "flavor": "m1.medium"}),
                Interval(START + 60, END, "shutoff", "p-1", {}),
            ),
            (),
        ),
    ),
    counts=(Count("p-1", "image.create", 1),),
    faults=("duplicates", "held-back"),
    traffic=(TrafficRow("i-1", START, START + 60, 17, 0),),
)

TEXT = """\
{
  "format": 4,
  "cloud": "os-\\u003csim\\u003e",
  "seed": 18446744073709551615,
  "period_from": "2026-07-01T00:00:00Z",
  "period_to": "2026-08-01T00:00:00Z",
  "resources": [
    {
      "resource_type": "image",
      "resource_id": "m-1",
      "workload": "ci",
      "intervals": [
        {
          "from": "2026-07-01T00:00:05Z",
          "to": "2026-08-01T00:00:00Z",
          "state": "active",
          "project_id": "p-1",
          "size": {
            "size_gb": 1.25
          }
        }
      ],
      "faults": [
        "duplicates",
        "held-back"
      ]
    },
    {
      "resource_type": "instance",
      "resource_id": "i-1",
      "workload": "classic",
      "intervals": [
        {
          "from": "2026-07-01T00:00:00Z",
          "to": "2026-07-01T00:01:00Z",
          "state": "active",
          "project_id": "p-1",
          "size": {
            "flavor": "m1.medium",
            "vcpus": 2
          }
        },
        {
          "from": "2026-07-01T00:01:00Z",
          "to": "2026-08-01T00:00:00Z",
          "state": "shutoff",
          "project_id": "p-1",
          "size": {}
        }
      ],
      "faults": []
    }
  ],
  "counts": [
    {
      "project_id": "p-1",
      "event_type": "image.create",
      "count": 1
    }
  ],
  "faults": [
    "duplicates",
    "held-back"
  ],
  "traffic": [
    {
      "resource_id": "i-1",
      "from": "2026-07-01T00:00:00Z",
      "to": "2026-07-01T00:01:00Z",
      "egress_bytes": 17,
      "ingress_bytes": 0
    }
  ]
}
"""


@pytest.fixture
def refused(tmp_path):
    """Gives the error of reading the document after `change`."""

    def reading(change):
        document = copy.deepcopy(json.loads(TEXT))
        change(document)
        path = tmp_path / "oracle.json"
        path.write_text(json.dumps(document))
        with pytest.raises(OracleError) as caught:
            read(path)
        return str(caught.value).replace(str(path), "FILE")

    return reading


def test_the_layout_is_exact():
    assert encode(ORACLE).decode() == TEXT


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "oracle.json"
    write(ORACLE, path)
    assert read(path) == ORACLE
    assert encode(read(path)) == path.read_bytes()


def test_empty_lists_are_never_null():
    bare = Oracle("c", 0, START, END, ORACLE.resources[1:], (), (), ())
    text = encode(bare).decode()
    assert '"counts": [],\n  "faults": [],\n  "traffic": []\n}\n' in text
    assert "null" not in text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ü", '"ü"'),
        ('"\\/\x7f', '"\\"\\\\/\x7f"'),
        ("<>&\u2028\u2029", '"\\u003c\\u003e\\u0026\\u2028\\u2029"'),
        ("\b\f\n\r\t\x01\x1f", '"\\b\\f\\n\\r\\t\\u0001\\u001f"'),
        ("\udcff\U0001f600", '"\ufffd\U0001f600"'),
    ],
)
def test_strings_are_escaped_as_everywhere_in_a_month(text, written):
    assert quote(text) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (4, "4"),
        (Decimal("1.50"), "1.5"),
        (Decimal("2.00"), "2"),
        (Decimal("1E+2"), "100"),
        (Decimal("0.00"), "0"),
    ],
)
def test_numbers_have_their_shortest_plain_form(value, written):
    assert number(value) == written


def test_a_failure_to_write_names_path_and_cause(tmp_path):
    with pytest.raises(OracleWriteError, match=r"writing .*/no/oracle\.json: No such file"):
        write(ORACLE, tmp_path / "no" / "oracle.json")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(OracleError, match=r"reading .*/none\.json: No such file"):
        read(tmp_path / "none.json")


def first(document):
    return document["resources"][0]


def interval(document):
    return first(document)["intervals"][0]


REFUSALS = [
    (lambda d: d.update(format=3), "FILE states format 3 and this build writes format 4"),
    (lambda d: d.pop("format"), "FILE states format 0 and this build writes format 4"),
    (lambda d: d.update(format=1, resources=[]), "FILE states format 1"),
    (lambda d: d.update(resources=[], cloud=""), "FILE holds no resources"),
    (lambda d: d.pop("resources"), "FILE holds no resources"),
    (lambda d: d.update(resources=None), "FILE holds no resources"),
    (lambda d: d.update(cloud=""), "FILE names no cloud"),
    (lambda d: d.pop("cloud"), "FILE names no cloud"),
    (lambda d: d.pop("period_to"), "FILE names no period"),
    (lambda d: d.update(period_from="0001-01-01T00:00:00Z"), "FILE names no period"),
    (lambda d: first(d).update(resource_type=""), "FILE has a resource that lacks its type or id"),
    (lambda d: first(d).pop("resource_id"), "FILE has a resource that lacks its type or id"),
    (lambda d: first(d).update(intervals=[]), "FILE states no interval for image m-1"),
    (lambda d: interval(d).pop("from"), "FILE states an interval of image m-1 without bounds"),
    (
        lambda d: interval(d).update(state=""),
        "FILE states no state for image m-1 from 2026-07-01T00:00:05Z",
    ),
    (
        lambda d: interval(d).pop("project_id"),
        "FILE states no project for image m-1 from 2026-07-01T00:00:05Z",
    ),
    (
        lambda d: interval(d).update(size=None),
        "FILE states no size for image m-1 from 2026-07-01T00:00:05Z",
    ),
    (
        lambda d: d["traffic"][0].update(resource_id=""),
        "FILE has traffic of no resource",
    ),
    (
        lambda d: d["traffic"][0].pop("to"),
        "FILE has traffic of instance i-1 that lacks a bound",
    ),
    (lambda d: d.pop("seed"), 'FILE leaves out "seed" of the document'),
    (lambda d: d.pop("counts"), 'FILE leaves out "counts" of the document'),
    (lambda d: d.update(faults=None), 'FILE leaves out "faults" of the document'),
    (lambda d: d.pop("traffic"), 'FILE leaves out "traffic" of the document'),
    (lambda d: first(d).pop("workload"), 'FILE leaves out "workload" of image m-1'),
    (lambda d: first(d).pop("faults"), 'FILE leaves out "faults" of image m-1'),
    (lambda d: d["counts"][0].pop("count"), 'FILE leaves out "count" of counts[0]'),
    (lambda d: d["traffic"][0].pop("egress_bytes"), 'FILE leaves out "egress_bytes" of traffic[0]'),
    (
        lambda d: d.update(stranger=1, format=3),
        "reading FILE: Object contains unknown field `stranger`",
    ),
    (
        lambda d: interval(d).update(stranger=1),
        "reading FILE: Object contains unknown field `stranger`",
    ),
    (lambda d: d.update(seed="1"), "reading FILE: Expected `int | null`, got `str`"),
    (lambda d: d.update(seed=2**64), "reading FILE: seed 18446744073709551616 is out of range"),
    (lambda d: d.update(seed=-1), "reading FILE: Expected `int` >= 0"),
    (lambda d: interval(d).update({"from": "yesterday"}), "reading FILE: Invalid RFC3339"),
    (
        lambda d: interval(d).update({"from": "2026-07-01T00:00:05.5Z"}),
        "reading FILE: an interval of image m-1",
    ),
    (
        lambda d: interval(d).update({"from": "2026-07-01T00:00:05"}),
        "reading FILE: Expected `datetime` with a timezone",
    ),
]


@pytest.mark.parametrize(("change", "text"), REFUSALS, ids=map(str, range(len(REFUSALS))))
def test_a_document_too_short_or_too_long_is_refused(refused, change, text):
    assert refused(change).startswith(text)


def test_one_resource_is_checked_whole_before_the_next(refused):
    def change(document):
        interval(document)["size"] = None
        document["resources"][1]["resource_id"] = ""
        document["traffic"][0]["resource_id"] = ""

    assert refused(change).startswith("FILE states no size for image m-1")


def test_no_json_is_refused(tmp_path):
    path = tmp_path / "oracle.json"
    path.write_bytes(b"{")
    with pytest.raises(OracleError, match=f"reading {path}: "):
        read(path)


def test_stated_zeros_and_free_members_of_a_size_are_fine(tmp_path):
    document = json.loads(TEXT)
    document.update(seed=0, counts=[], faults=[], traffic=[])
    interval(document)["size"] = {"anything": 1, "text": "x", "odd": None}
    path = tmp_path / "oracle.json"
    path.write_text(json.dumps(document))
    assert read(path).resources[0].intervals[0].size == {"anything": 1, "text": "x", "odd": None}


def test_sizes_keep_their_digits(tmp_path):
    path = tmp_path / "oracle.json"
    path.write_text(TEXT.replace("1.25", "1.2500000000000000000000000001"))
    size = read(path).resources[0].intervals[0].size
    assert size["size_gb"] == Decimal("1.2500000000000000000000000001")
