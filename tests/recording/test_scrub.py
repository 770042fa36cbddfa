import argparse
import ipaddress
import json
import re
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cli import scrub as scrub_command
from harness.collector.mapping import MAPPINGS, map_notification
from harness.errors import UsageError
from harness.month import FAULTS
from harness.oracle import fold
from harness.oracle.document import encode
from harness.oslo import Notification, parse
from harness.recording import files
from harness.recording.errors import RecordingError
from harness.recording.recording import Recording
from harness.recording.scrub import Pseudonyms, PseudonymsError, findings, scrub, words
from harness.recording.scrub.forms import RANGES, is_pseudonymous
from harness.recording.scrub.message import Scrubber
from harness.recording.writer import RecordingWriter

KEY = b"an example key, at least 16 bytes"


@pytest.fixture
def pseudonyms():
    return Pseudonyms(KEY)


def scrubbed(recording, path, key=KEY, **settings):
    return scrub(recording, RecordingWriter(path), Pseudonyms(key), **settings)


def inner(body):
    return json.loads(json.loads(body)["oslo.message"])


def _named(name, value):
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from _named(key, child)
    elif isinstance(value, list):
        for child in value:
            yield from _named(name, child)


# -- pseudonyms -----------------------------------------------------------------------------------


def test_a_pseudonym_keeps_its_form(pseudonyms):
    made = pseudonyms("a1b2c3d4-0000-4000-8000-00000000aaaa", "instance_id")
    assert uuid.UUID(made).version == 8
    assert re.fullmatch(r"[0-9a-f]{32}", pseudonyms("0" * 31 + "1", "tenant_id"))
    assert re.fullmatch(
        r"[0-9A-F]{40}", pseudonyms("0123456789ABCDEF0123456789ABCDEF01234567", "x")
    )
    assert len(pseudonyms("0123456789abcdef" * 8, "sha512")) == 128
    assert re.fullmatch(r"02(:[0-9a-f]{2}){5}", pseudonyms("fa:16:3e:9a:ad:f3", "mac_address"))
    assert re.fullmatch(r"user-[0-9a-f]{12}@example\.org", pseudonyms("a.b@corp.de", "email"))
    assert re.fullmatch(r"name-[0-9a-f]{12}", pseudonyms("web-03", "display_name"))
    assert re.fullmatch(r"host-[0-9a-f]{12}", pseudonyms("compute-03", "host"))
    assert ipaddress.ip_address(pseudonyms("2a02:1:2::3", "address")) in ipaddress.ip_network(
        "2001:db8::/32"
    )
    address, length = pseudonyms("10.1.2.0/24", "cidr").split("/")
    assert any(ipaddress.ip_address(address) in network for network in RANGES)
    assert length == "24"


def test_an_url_keeps_its_ids_and_nothing_else(pseudonyms):
    image = "a1b2c3d4-0000-4000-8000-00000000aaaa"
    made = pseudonyms(f"https://user:pw@glance.corp.de:9292/v2/images/{image}?x=secret", "url")
    assert re.fullmatch(r"https://host-[0-9a-f]{12}\.example(/[a-z0-9-]+)+", made)
    assert pseudonyms(image, "image_id") in made
    assert not re.search(r"corp|9292|images|secret|pw", made)


@pytest.mark.parametrize(
    "text", ["", "2026-07-01 00:00:00", "2026-07-01T00:00:00.5+00:00", "0.0.0.0", "::1"]
)
def test_what_says_nothing_stays(pseudonyms, text):
    assert pseudonyms(text, "x") == text


def test_an_id_and_its_spelling_without_dashes_stay_related(pseudonyms):
    text = "a1b2c3d4-0000-4000-8000-00000000aaaa"
    assert pseudonyms(text, "id").replace("-", "") == pseudonyms(text.replace("-", ""), "checksum")


@settings(max_examples=100, deadline=None)
@given(st.text(), st.sampled_from(["host", "display_name", "id", "x"]))
def test_the_same_under_the_same_key_and_never_itself(text, member):
    made = Pseudonyms(KEY)(text, member)
    assert made == Pseudonyms(KEY)(text, member)
    assert is_pseudonymous(made)
    if not is_pseudonymous(text):
        assert made != text
        assert made != Pseudonyms(KEY + b"!")(text, member)


def test_addresses_are_mapped_one_to_one(pseudonyms):
    network = ipaddress.ip_network("10.0.0.0/21")
    made = [pseudonyms(str(address), "ip") for address in network]
    assert len(set(made)) == len(made)
    assert all(any(ipaddress.ip_address(a) in n for n in RANGES) for a in made)
    documented = [a for a in made if any(ipaddress.ip_address(a) in n for n in RANGES[:3])]
    assert len(documented) == 768


def test_more_addresses_than_there_are_is_an_error(pseudonyms):
    pseudonyms._taken = dict.fromkeys(range(768 + 2**17), "")
    with pytest.raises(PseudonymsError, match="--allow-list"):
        pseudonyms("10.0.0.1", "ip")


def test_a_short_key_is_refused_and_a_key_is_never_shown():
    with pytest.raises(UsageError, match="16 or more") as caught:
        Pseudonyms(b"short")
    assert "short" not in str(caught.value).replace("shorter", "")
    assert KEY.decode() not in repr(Pseudonyms(KEY))


# -- messages -------------------------------------------------------------------------------------

SECRETS = {
    "password": "hunter2-a",
    "adminPass": "hunter2-b",
    "admin_pass": "hunter2-c",
    "auth_token": "hunter2-d",
    "secret_ref": "hunter2-e",
    "user_data": "hunter2-f",
    "userdata": "hunter2-g",
    "connection_info": {"data": {"auth_username": "hunter2-h", "hosts": ["hunter2-i"]}},
    "private_key": "hunter2-j",
    "keys": ["hunter2-k"],
    "api_key": "hunter2-l",
    "personality": [{"contents": "hunter2-m"}],
    "metadata": {"hunter2-n": "hunter2-o"},
    "description": "hunter2-p",
    "display_description": "hunter2-q",
    "message": "hunter2-r",
    "tags": ["hunter2-s"],
    "addresses": {"hunter2-t": [{"addr": "10.9.8.7"}]},
}


@pytest.mark.parametrize("allow_list", [False, True])
def test_secrets_free_text_and_contexts_go_at_any_depth(pseudonyms, allow_list):
    payload = {"deep": [[{"deeper": {**SECRETS, "n": 1.50}}]], **SECRETS, "vcpus": 2}
    message = {
        "message_id": "hunter2-u",
        "event_type": "compute.instance.create.end",
        "timestamp": "2026-07-01 00:00:00",
        "publisher_id": "compute.hunter2-v",
        "payload": payload,
        "_context_project_id": "hunter2-w",
        "_context_user_id": "hunter2-x",
        "_context_auth_token": "hunter2-y",
        "_context_remote_address": "10.1.1.1",
        "_context_roles": ["hunter2-z"],
    }
    body = json.dumps(
        {"oslo.message": json.dumps(message), "oslo.version": "2.0", "extra": "hunter2"}
    )
    made = Scrubber(pseudonyms, allow_list=allow_list).body(body.encode())
    assert b"hunter2" not in made
    assert b"10.1.1.1" not in made
    assert b"10.9.8.7" not in made
    after = inner(made)
    assert after["payload"]["vcpus"] == 2
    assert after["event_type"] == "compute.instance.create.end"
    assert after["timestamp"] == "2026-07-01 00:00:00"
    assert is_pseudonymous(after["_context_project_id"])
    assert {name for name in after if name.startswith("_context")} == {"_context_project_id"}
    if not allow_list:
        assert after["publisher_id"].startswith("compute.host-")
        assert after["payload"]["deep"] == [[{"deeper": {"n": 1.50}}]]


def test_numbers_keep_their_digits(pseudonyms):
    text = '{"timestamp":"2026-07-01 00:00:00","payload":{"a":1.50,"b":123456789012345678901234567890,"c":2e3,"d":-0.0}}'
    body = json.dumps({"oslo.message": text, "oslo.version": "2.0"}).encode()
    made = json.loads(Scrubber(pseudonyms, allow_list=False).body(body))["oslo.message"]
    assert '{"a":1.50,"b":123456789012345678901234567890,"c":2e3,"d":-0.0}' in made


def test_odd_texts_are_scrubbed(pseudonyms):
    text = '{"timestamp":"2026-07-01 00:00:00","payload":{"name":"\\ud800 secret","a b@c.de":"x","10.0.0.1":[1]}}'
    body = json.dumps({"oslo.message": text, "oslo.version": "2.0"}).encode()
    after = inner(Scrubber(pseudonyms, allow_list=False).body(body))["payload"]
    assert [re.sub("[0-9a-f]{12}", "#", str(v)) for v in after.values()] == [
        "name-#",
        "text-#",
        "[1]",
    ]
    assert not re.search(r"secret|c\.de|10\.0\.0\.1", json.dumps(after))


def test_deep_nesting_goes(pseudonyms):
    text = (
        '{"timestamp":"2026-07-01 00:00:00","payload":{"a":'
        + "[" * 400
        + '"secret"'
        + "]" * 400
        + "}}"
    )
    body = json.dumps({"oslo.message": text, "oslo.version": "2.0"}).encode()
    assert b"secret" not in Scrubber(pseudonyms, allow_list=False).body(body)


@pytest.mark.parametrize(
    "body", [b"", b"hunter2", b'{"oslo.message": "hunter2"}', b'{"hunter2": 1}', b"\xff"]
)
def test_an_unreadable_body_becomes_another_unreadable_one(pseudonyms, body):
    made = Scrubber(pseudonyms, allow_list=False).body(body)
    assert re.fullmatch(rb"unparseable text-[0-9a-f]{12}", made)


# -- a whole month --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stream(stream):
    """The first days of the month: everything occurs in them, and a test takes a second."""
    return stream[:2_500]


@pytest.fixture(scope="module")
def month_recording(month, stream, tmp_path_factory):
    writer = RecordingWriter(tmp_path_factory.mktemp("days") / "seed-1")
    for notification in stream:
        writer.add(notification)
    writer.attach("oracle.json", encode(fold.fold(month)))
    return writer.finish(cloud="os-sim")


@pytest.fixture(scope="module")
def scrubbed_month(month_recording, tmp_path_factory):
    return scrubbed(month_recording, tmp_path_factory.mktemp("scrubbed") / "month")


@pytest.fixture(scope="module")
def allowed_month(month_recording, tmp_path_factory):
    return scrubbed(month_recording, tmp_path_factory.mktemp("allowed") / "month", allow_list=True)


def everything(recording):
    """All the bytes of a recording, decompressed, with those that lie in its directory."""
    found = b"".join(path.read_bytes() for path in recording.path.iterdir())
    found += b"\n".join(n.body for n in recording.notifications())
    with files.opened(recording.oracle) as file:
        return found + file.read()


def test_nothing_of_the_original_is_left(month_recording, scrubbed_month, allowed_month, stream):
    kept_members = {"event_type", "instance_type", "volume_type"}
    originals, kept = set(), {"os-sim"}
    for notification in stream:
        for member, text in _named("", inner(notification.body)):
            (kept if member in kept_members else originals).add(text)
    words = re.compile(r"[A-Za-z][a-z_A-Z]*|[0-9]{1,3}|\S*[ .:]?start|compute:nova|")
    searched = {
        text
        for text in originals - kept
        if not re.fullmatch(r"20\d\d-\d\d-\d\d.*", text)
        and not words.fullmatch(text)
        and not any(_inside(text, network) for network in RANGES)
        and text not in {"0.0.0.0/0", "", "IPv4", "in-use", "qcow2"}
    }
    assert len(searched) > 3_000
    pattern = re.compile(rb"[A-Za-z0-9@:/._-]+")
    for recording in (scrubbed_month, allowed_month):
        content = everything(recording)
        assert KEY not in content
        tokens = set(pattern.findall(content.replace(b"\\", b" ")))
        assert not {text for text in searched if text.encode() in tokens}
        for text in sorted(searched, key=len)[:400]:
            assert text.encode() not in content, text
        for text in (
            "shoot--",
            "web-0",
            "glance.",
            "hostmaster",
            "fa:16:3e",
            "10.250.",
            "192.168.",
        ):
            assert text.encode() not in content, text


def _inside(text, network):
    try:
        return ipaddress.ip_address(text) in network
    except ValueError:
        return False


def test_a_scrubbed_month_is_the_same_month(month_recording, scrubbed_month, allowed_month, stream):
    for recording in (scrubbed_month, allowed_month):
        before, after = month_recording.manifest, recording.manifest
        for name in (
            "notifications",
            "types",
            "unparseable",
            "first",
            "last",
            "exchanges",
            "routing_keys",
        ):
            assert getattr(before, name) == getattr(after, name)
        assert after.scrub.fingerprint == Pseudonyms(KEY).fingerprint
        Recording.open(recording.path).check()
    assert allowed_month.manifest.scrub.mode == "allow-list"
    assert scrubbed_month.manifest.cloud.startswith("cloud-")


def test_every_event_is_the_same_but_for_its_pseudonyms(stream, scrubbed_month, allowed_month):
    pseudonyms = Pseudonyms(KEY)
    for recording in (scrubbed_month, allowed_month):
        booked = 0
        for before, after in zip(stream, recording.notifications(), strict=True):
            envelope = parse(before.body)
            if envelope.event_type not in MAPPINGS:
                assert parse(after.body).event_type == envelope.event_type
                continue
            event = map_notification(envelope, "cloud")
            made = map_notification(parse(after.body), "cloud")
            if event is None:
                assert made is None
                continue
            booked += 1
            assert made.payload == event.payload
            assert made.timestamp == event.timestamp
            assert made.resource_id == pseudonyms(event.resource_id, "id")
            assert made.project_id == pseudonyms(event.project_id, "id")
            assert made.event_id == pseudonyms(event.event_id, "id")
        assert booked > 150


def test_the_same_key_gives_the_same_recording(make, stream, tmp_path):
    recording = make(stream[:200])
    first, again = (scrubbed(recording, tmp_path / name) for name in ("first", "again"))
    assert again.stream.read_bytes() == first.stream.read_bytes()
    assert again.manifest == first.manifest
    other = scrubbed(recording, tmp_path / "other", key=KEY + b"!")
    assert other.manifest.scrub.fingerprint != again.manifest.scrub.fingerprint
    assert other.stream.read_bytes() != again.stream.read_bytes()


def test_a_scrubbed_month_passes_the_check(scrubbed_month, allowed_month):
    assert list(findings(scrubbed_month)) == []
    assert list(findings(allowed_month)) == []


def test_an_original_fails_the_check_with_paths_and_no_values(month_recording):
    found = {(f.path, f.what) for _, f in findings(month_recording)}
    assert ("payload.display_name", "a name or a text") in found
    assert ("payload.instance_id", "an id") in found
    assert ("payload.fixed_ips[].address", "an address") in found or any(
        what == "an address" for _, what in found
    )
    assert ("_context_user_id", "a member of the request context") in found
    assert any(path.startswith("oracle.") for path, _ in found)


@pytest.mark.parametrize(
    ("members", "path", "what"),
    [
        ({"password": ""}, "payload.password", "secret"),
        ({"a": [{"admin_pass": "Jane"}]}, "payload.a[].admin_pass", "secret"),
        ({"description": "Jane"}, "payload.description", "free text"),
        ({"a": "10.0.0.1"}, "payload.a", "an address"),
        ({"a": ["fe80::1"]}, "payload.a[]", "an address"),
        ({"a": "x@corp.de"}, "payload.a", "e-mail"),
        ({"a": "https://corp.de/x"}, "payload.a", "URL"),
        ({"a": "fa:16:3e:00:00:01"}, "payload.a", "hardware"),
        ({"a": str(uuid.UUID(int=7))}, "payload.a", "an id"),
        ({"a": "Jane Doe"}, "payload.a", "a name"),
        ({"state": "Jane Doe"}, "payload.state", "a name"),
        ({"jane@corp.de": 1}, "payload.(a name)", "named by somebody"),
    ],
)
def test_one_private_detail_fails_the_check(make, message, members, path, what):
    good = Scrubber(Pseudonyms(KEY), allow_list=False)(message(1))
    bad = inner(good.body)
    bad["payload"] = members
    body = json.dumps({"oslo.message": json.dumps(bad), "oslo.version": "2.0"}).encode()
    recording = make([good, Notification("nova", "notifications.info", body)])
    ((line, finding),) = findings(recording)
    assert line == 2
    assert finding.path == path
    assert what in finding.what
    assert not any(str(v) in finding.what for v in members.values() if v)


NAMES = [
    "de37d741-fd16-4d34-bd41-06ccde23125f",
    "a05be5adeef3d87e280d03d9d57c38b4",
    "abcdefabcdefabcdefabcdefabcdefab",
    "db01.acme-corp.internal",
    "alice.smith",
    "fa:16:3e:9a:ad:f3",
    "fe80::1",
    "compute-03",
    "alice@acme.com",
]
TEXTS = ["db01.acme-corp.internal", "alice.smith", "Passw0rd.Hunter2", "jane", "acme-corp"]


@pytest.mark.parametrize("name", NAMES)
def test_an_id_an_address_a_host_or_a_user_as_a_members_name(make, message, tmp_path, name):
    recording = make([message(1, nets={name: 1, "deep": [{name: {}}]})])
    found = {(f.path, f.what) for _, f in findings(recording)}
    assert ("payload.nets.(a name)", "a member named by somebody") in found
    assert not any(name in path for path, _ in found)
    made = scrubbed(recording, tmp_path / "out")
    (after,) = made.notifications()
    assert name.encode() not in after.body
    nets = inner(after.body)["payload"]["nets"]
    assert set(nets) - {"deep"} == set(nets["deep"][0])
    assert list(findings(made)) == []


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("member", ["status", "type", "action", "device_owner", "state"])
def test_a_member_of_words_keeps_no_other_text(make, message, tmp_path, member, text):
    recording = make([message(1, **{member: text})])
    assert f"payload.{member}" in {f.path for _, f in findings(recording)}
    made = scrubbed(recording, tmp_path / "out")
    assert text.encode() not in next(made.notifications()).body
    assert list(findings(made)) == []


@pytest.mark.parametrize(
    "text",
    ["active", "ACTIVE", "in-use", "network:router_interface", "qcow2", "IPv4", "201", "A"],
)
def test_a_services_own_words_stay(pseudonyms, message, text):
    made = Scrubber(pseudonyms, allow_list=False)(message(1, status=text))
    assert inner(made.body)["payload"] == {"status": text}


@pytest.mark.parametrize(
    ("exchange", "key"),
    [
        ("acme-corp-exchange", "alice@acme.com"),
        ("rabbit.acme.internal", "notifications.info.db01"),
        ("10.0.0.1", "acme"),
    ],
)
def test_exchanges_and_keys_of_somebody_become_pseudonyms(make, message, tmp_path, exchange, key):
    recording = make([message(1), Notification(exchange, key, message(2).body)])
    paths = {(line, f.path) for line, f in findings(recording)}
    assert {(2, "exchange"), (2, "routing_key")} <= paths
    assert {(0, "manifest.exchange"), (0, "manifest.routing_key")} <= paths
    made = scrubbed(recording, tmp_path / "out")
    first, second = made.notifications()
    assert (first.exchange, first.routing_key) == ("nova", "notifications.info")
    assert made.manifest.exchanges == tuple(sorted(("nova", second.exchange)))
    text = (made.path / "manifest.json").read_text() + str(second)
    assert exchange not in text
    assert key not in text
    assert list(findings(made)) == []


@pytest.mark.parametrize("member", ["instance_type", "volume_type"])
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("10.0.0.1", "an address"),
        ("alice@acme.com", "an e-mail address"),
        ("db01.acme-corp.internal", "a host name"),
        ("acme.com", "a host name"),
        ("m1.small", None),
        ("SCS-2V-4-20s", None),
        ("c5.2xlarge", None),
    ],
)
def test_flavors_that_look_like_somebodys_are_pointed_out(make, message, member, text, what):
    recording = scrub_free(make, message, member, text)
    expected = set() if what is None else {(f"payload.{member}", what)}
    assert {(f.path, f.what) for _, f in findings(recording)} == expected


def scrub_free(make, message, member, text):
    scrubber = Scrubber(Pseudonyms(KEY), allow_list=False)
    return make([scrubber(message(1, **{member: text}))])


def private_oracle():
    interval = {
        "from": "2026-07-01T00:00:00Z",
        "to": "2026-07-02T00:00:00Z",
        "state": "hunter2-state",
        "project_id": "hunter2-project",
        "size": {
            "flavor": "m1.small",
            "note": "hunter2-size",
            "hunter2.member": 1,
            "deep": ["hunter2-deep"],
        },
    }
    resource = {
        "resource_type": "hunter2-type",
        "resource_id": "hunter2-resource",
        "workload": "hunter2-workload",
        "intervals": [interval],
        "faults": ["hunter2-fault", "drop_delete"],
    }
    return {
        "format": 4,
        "cloud": "os-sim",
        "resources": [resource],
        "counts": [{"project_id": "hunter2-p", "event_type": "volume.retype", "count": 1}],
        "faults": ["hunter2-switch"],
        "traffic": [{"resource_id": "hunter2-r", "egress_bytes": 1.50}],
        "more": {"hunter2.x": "hunter2-y"},
    }


def test_why_a_recording_ended_names_nobody(message, tmp_path):
    for number, (ended, kept) in enumerate(
        [
            ("idle", "idle"),
            ("connection lost: rabbit.acme.internal", "connection lost"),
            ("alice", "complete"),
        ]
    ):
        writer = RecordingWriter(tmp_path / f"in-{number}")
        writer.add(message(1))
        recording = writer.finish(cloud="os-sim", ended=ended)
        pointed_out = "manifest.ended" in {f.path for _, f in findings(recording)}
        assert pointed_out == (ended != kept)
        made = scrubbed(recording, tmp_path / f"out-{number}")
        assert made.manifest.ended == kept
        assert list(findings(made)) == []


def test_the_words_of_an_oracle_are_those_of_a_month():
    assert frozenset(FAULTS) == words.FAULTS


def test_every_text_of_an_oracle_is_looked_at(make, message, tmp_path):
    recording = make([message(1)], oracle=json.dumps(private_oracle()).encode())
    paths = {f.path for _, f in findings(recording) if f.path.startswith("oracle.")}
    assert {
        "oracle.resources.workload",
        "oracle.resources.faults",
        "oracle.faults",
        "oracle.resources.resource_type",
        "oracle.resources.intervals.state",
        "oracle.resources.intervals.size.note",
        "oracle.resources.intervals.size.deep",
        "oracle.resources.intervals.size.(a name)",
        "oracle.more.(a name)",
        "oracle.counts.project_id",
        "oracle.traffic.resource_id",
    } <= paths
    made = scrubbed(recording, tmp_path / "out")
    with files.opened(made.oracle) as file:
        text = file.read()
    assert b"hunter2" not in text
    assert b"m1.small" in text
    assert b"volume.retype" in text
    assert b"1.5\n" in text
    assert list(findings(made)) == []


@pytest.mark.parametrize(
    "oracle",
    [
        b"[" * 100_000,
        b"{}",
        b"\xff",
        b"[]",
        b"",
        b'{"resources":1,"counts":[],"traffic":[]}',
        b'{"resources":[],"counts":[],"traffic":[],"x":' + b"[" * 300 + b"]" * 300 + b"}",
    ],
    ids=range(7),
)
def test_an_oracle_that_is_none_is_refused_and_leaves_nothing(make, message, tmp_path, oracle):
    recording = make([message(1)], oracle=oracle)
    with pytest.raises(RecordingError, match="oracle"):
        list(findings(recording))
    (tmp_path / "key").write_bytes(KEY)
    out = tmp_path / "out"
    parser = argparse.ArgumentParser()
    scrub_command.configure(parser)
    arguments = parser.parse_args(
        ["--in", str(recording.path), "--out", str(out), "--key-file", str(tmp_path / "key")]
    )
    with pytest.raises(RecordingError, match="oracle"):
        scrub_command.run(arguments)
    assert not out.exists()


def test_an_interrupt_leaves_nothing(make, message, tmp_path, monkeypatch):
    recording = make([message(1)])
    (tmp_path / "key").write_bytes(KEY)
    parser = argparse.ArgumentParser()
    scrub_command.configure(parser)
    arguments = parser.parse_args(
        [
            *("--in", str(recording.path), "--out", str(tmp_path / "out")),
            *("--key-file", str(tmp_path / "key")),
        ]
    )

    def interrupted(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(Scrubber, "body", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scrub_command.run(arguments)
    assert not (tmp_path / "out").exists()


def test_an_unreadable_body_and_a_loose_envelope_fail_the_check(make, message):
    loose = json.dumps({**json.loads(message(1).body), "from": "x"}).encode()
    recording = make([Notification("x", "k", b"hunter2"), Notification("x", "k", loose)])
    whats = [finding.what for _, finding in findings(recording)]
    assert "a body that cannot be looked into" in whats
    assert "a member of the envelope nobody reads" in whats


def test_a_scrubbed_recording_is_not_scrubbed_again(scrubbed_month, tmp_path):
    writer = RecordingWriter(tmp_path / "again")
    with pytest.raises(RecordingError, match="scrubbed before"):
        scrub(scrubbed_month, writer, Pseudonyms(KEY))
    writer.discard()
