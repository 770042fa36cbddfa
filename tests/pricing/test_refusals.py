"""What a model may not be, and the member each refusal names."""

from decimal import Decimal

import pytest

from harness.pricing import PricingError, parse, read

GOOD = """
version: v1
valid_from: 2026-03-01T00:00:00Z
currency: EUR
pricing:
  openstack:
    volume:
      dimensions:
        - metric: size_gb
          type: time_gauge
          price_per_unit_hour: 0.0001
      type_modifiers:
        hdd: 0.5
"""
DIMENSION = "pricing.openstack.volume.dimensions[0]"


def refused(text):
    with pytest.raises(PricingError) as caught:
        parse(text.encode(), "model.yaml")
    message = str(caught.value)
    assert message.startswith(f"reading the pricing model model.yaml: {caught.value.path}")
    return caught.value.path, message


def changed(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


def test_the_base_of_this_table_is_accepted():
    assert parse(GOOD.encode()).version == "v1"


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("version: v1", "", "version"),
        ("version: v1", "version: 1", "version"),
        ("version: v1", "version: ''", "version"),
        ("valid_from: 2026-03-01T00:00:00Z", "", "valid_from"),
        ("2026-03-01T00:00:00Z", "2026-03-01", "valid_from"),
        ("2026-03-01T00:00:00Z", "2026-03-01 00:00:00Z", "valid_from"),
        ("2026-03-01T00:00:00Z", "2026-02-30T00:00:00Z", "valid_from"),
        ("2026-03-01T00:00:00Z", "2026-03-01T00:00:00", "valid_from"),
        ("currency: EUR", "", "currency"),
        ("EUR", "eur", "currency"),
        ("EUR", "EURO", "currency"),
        ("EUR", "978", "currency"),
        ("pricing:\n", "prices:\n", "prices"),
        ("currency: EUR", "currency: EUR\ncomment: hello", "comment"),
        ("  openstack:\n", "  openstack: 5\n  other:\n", "pricing.openstack"),
        ("    volume:\n", "    volume: []\n    other:\n", "pricing.openstack.volume"),
        ("      dimensions:\n", "      sizes:\n", "pricing.openstack.volume.sizes"),
        ("      type_modifiers:", "      modifiers:", "pricing.openstack.volume.modifiers"),
        ("hdd: 0.5", "hdd: half", "pricing.openstack.volume.type_modifiers.hdd"),
        ("hdd: 0.5", "hdd: -1", "pricing.openstack.volume.type_modifiers.hdd"),
        ("        hdd: 0.5", "        - hdd", "pricing.openstack.volume.type_modifiers"),
        ("metric: size_gb", "metric: total", f"{DIMENSION}.metric"),
        ("metric: size_gb", "metric: 7", f"{DIMENSION}.metric"),
        ("metric: size_gb", "metric:", f"{DIMENSION}.metric"),
        ("metric: size_gb", "name: size_gb", f"{DIMENSION}.name"),
        ("type: time_gauge", "type: gauge", f"{DIMENSION}.type"),
        ("type: time_gauge", "type: counter", f"{DIMENSION}.price_per_unit_hour"),
        ("price_per_unit_hour: 0.0001", "price_per_unit: 1", f"{DIMENSION}.price_per_unit"),
        (
            "price_per_unit_hour: 0.0001",
            "price_per_unit_hour: 1\n          price_per_unit: 1",
            f"{DIMENSION}.price_per_unit",
        ),
        ("          price_per_unit_hour: 0.0001\n", "", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "-0.1", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "'-0.1'", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "'1e-3'", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "'.5'", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "'0.5 '", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "'\u0665'", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", ".inf", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", ".nan", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "true", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "1e31", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "1e999999999999999999999", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "[1]", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "!!float 0.1", f"{DIMENSION}.price_per_unit_hour"),
        ("0.0001", "!!python/object:os.system x", f"{DIMENSION}.price_per_unit_hour"),
        (
            "      type_modifiers:",
            "        - {metric: size_gb, type: counter, price_per_unit: 1}\n      type_modifiers:",
            "pricing.openstack.volume.dimensions[1].metric",
        ),
        (
            "        hdd: 0.5",
            "        hdd: 0.5\n        hdd: 0.5",
            "pricing.openstack.volume.type_modifiers.hdd",
        ),
        ("        hdd: 0.5", "        5: 0.5", "pricing.openstack.volume.type_modifiers"),
        ("        hdd: 0.5", "        true: 0.5", "pricing.openstack.volume.type_modifiers"),
        ("        hdd: 0.5", "        null: 0.5", "pricing.openstack.volume.type_modifiers"),
        ("currency: EUR", "currency: EUR\ncurrency: EUR", "currency"),
        ("version: v1", "version: &a v1\nversion: *a", "version"),
    ],
)
def test_a_refusal_names_the_member(old, new, path):
    assert refused(changed(old, new))[0] == path


def test_an_empty_list_of_dimensions_is_refused():
    head = GOOD.partition("      dimensions:")[0]
    assert refused(head + "      dimensions: []\n")[0] == "pricing.openstack.volume.dimensions"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "is empty"),
        ("# nothing\n", "is empty"),
        ("[1, 2]", "a list must be a mapping"),
        ("a: [", "is not YAML"),
        ("a: b: c", "is not YAML"),
        (GOOD + "---\n" + GOOD, "more than one YAML document"),
        ("a: *nowhere", "*nowhere"),
        ("a: &a [*a]", "*a"),
        ("\x01", "is not YAML"),
    ],
)
def test_a_broken_document_is_refused(text, word):
    assert word in refused(text)[1]


def test_bytes_that_are_no_utf8_are_refused():
    with pytest.raises(PricingError, match="is not UTF-8"):
        parse(b"a: \xff")


def test_depth_is_bounded():
    assert "unknown" in refused("a: " + "[" * 62 + "1" + "]" * 62)[1]
    assert "deeper than 64" in refused("a: " + "[" * 63 + "1" + "]" * 63)[1]
    assert "deeper than 64" in refused("a: " + "[" * 900)[1]


def test_depth_counts_through_aliases():
    text = "a: &a " + "[" * 40 + "1" + "]" * 40 + "\nb: " + "[" * 40 + "*a" + "]" * 40
    assert "deeper than 64" in refused(text)[1]


def test_aliases_cannot_multiply_beyond_the_count():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    assert "more than 1048576 values" in refused("\n".join(lines))[1]


def test_a_file_over_the_bound_is_refused(tmp_path):
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * (16 * 1024 * 1024 + 1))
    with pytest.raises(PricingError, match=r"large\.yaml: is larger than 16777216 bytes"):
        read(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(PricingError, match=r"absent\.yaml: No such file"):
        read(tmp_path / "absent.yaml")


@pytest.mark.parametrize("price", ["5", "0.0200", "'0.02'", "2e-2", ".5", "+1", "0"])
def test_accepted_prices_are_exact(price):
    model = parse(changed("0.0001", price).encode())
    (tariff,) = model.tariffs.values()
    assert tariff.dimensions[0].price == Decimal(price.strip("'"))
    assert parse(model.document()) == model


def test_words_that_yaml_1_1_calls_booleans_are_states():
    model = parse(changed("hdd: 0.5", "off: 0.5").encode())
    assert model.tariffs["openstack", "volume"].type_modifiers == {"off": Decimal("0.5")}


def test_offsets_and_fractions_of_valid_from():
    one = parse(changed("2026-03-01T00:00:00Z", "2026-03-01T01:00:00.5+01:00").encode())
    assert one.valid_from == 1772323200_500_000
    assert parse(one.document()) == one
