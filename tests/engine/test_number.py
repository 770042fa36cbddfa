"""Rounding: the cases where another way of computing gives another cent."""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

import pytest

from harness.engine import number
from harness.engine.rating import Rater
from harness.engine.record import Resource, UsageRecord
from harness.pricing import parse

CENT = Decimal("0.01")
FOUR = Decimal("0.0001")
WIDE = Context(prec=100)

#: seconds, quantity, price per unit and hour, state modifier; the amount; which wrong way errs.
CASES = [
    # half a cent above an even one: half-even stays there
    (3600, "1", "0.005", "1", "0.01", {"half-even"}),
    (3600, "5", "0.005", "1", "0.03", {"half-even"}),
    (7200, "1", "0.0225", "1", "0.05", {"half-even"}),
    (3600, "1", "0.05", "0.5", "0.03", {"half-even"}),
    (1487700, "1", "0.02", "1", "8.27", {"half-even"}),
    (209700, "1", "0.02", "1", "1.17", {"half-even"}),
    (1991700, "1", "0.02", "1", "11.07", {"half-even", "float"}),
    # half a cent above an odd one: binary floating point falls short of it
    (2472300, "1", "0.02", "1", "13.74", {"float"}),
    (765900, "1", "0.02", "1", "4.26", {"float"}),
    (2591100, "1", "0.02", "1", "14.40", {"float"}),
    # minutes are rounded to four places before they become hours, which moves the half
    (753500, "36", "0.005", "1", "37.67", {"one-stage"}),
    (2477300, "36", "0.005", "1", "123.86", {"one-stage"}),
    (2825, "144", "0.005", "1", "0.56", {"one-stage"}),
    (291900, "36", "0.005", "1", "14.59", {"one-stage", "float"}),
    (59353, "10000000", "0.0001", "1", "16486.95", {"one-stage", "float"}),
]


def half_even(seconds, quantity, price, modifier):
    minutes = WIDE.divide(Decimal(seconds), Decimal(60)).quantize(FOUR, ROUND_HALF_UP)
    hours = WIDE.divide(minutes, Decimal(60)).quantize(Decimal(1).scaleb(-28), context=WIDE)
    exact = WIDE.multiply(WIDE.multiply(hours, quantity), WIDE.multiply(price, modifier))
    return exact.quantize(CENT, ROUND_HALF_EVEN)


def in_floats(seconds, quantity, price, modifier):
    minutes = round(seconds / 60, 4)
    amount = round(minutes / 60 * float(quantity) * float(price) * float(modifier), 2)
    return Decimal(f"{amount:.2f}")


def one_stage(seconds, quantity, price, modifier):
    exact = WIDE.multiply(WIDE.multiply(Decimal(seconds), quantity), WIDE.multiply(price, modifier))
    return WIDE.divide(exact, Decimal(3600)).quantize(CENT, ROUND_HALF_UP)


WRONG = {"half-even": half_even, "float": in_floats, "one-stage": one_stage}


def model(price, modifier):
    return parse(
        {
            "version": "v",
            "valid_from": "2026-01-01T00:00:00Z",
            "currency": "EUR",
            "pricing": {
                "p": {
                    "t": {
                        "dimensions": [
                            {"metric": "m", "type": "time_gauge", "price_per_unit_hour": price}
                        ],
                        "state_modifiers": {"on": modifier},
                    }
                }
            },
        }
    )


def record(seconds, quantity, state="on"):
    usage = {"m": Decimal(quantity), "minutes": number.minutes(seconds), "count": 1}
    return UsageRecord(
        Resource("c", "p", "t", "r"), "project", state, 0, seconds * 1_000_000, seconds, usage
    )


def rated(seconds, quantity, price, modifier):
    (result,) = Rater(model(price, modifier)).rate([record(seconds, quantity)])
    return result.amount


@pytest.mark.parametrize(("seconds", "quantity", "price", "modifier", "amount", "errs"), CASES)
def test_amounts(seconds, quantity, price, modifier, amount, errs):
    assert str(rated(seconds, quantity, price, modifier)) == amount
    numbers = (seconds, Decimal(quantity), Decimal(price), Decimal(modifier))
    for name in errs:
        assert str(WRONG[name](*numbers)) != amount, f"{name} gives the same cent"


def test_every_rule_has_a_case_that_tells_it():
    assert set(WRONG) == set().union(*(errs for *_, errs in CASES))


def outcomes():
    return [str(rated(*case[:4])) for case in CASES]


def test_mutation_half_even_is_noticed(monkeypatch):
    expected = [case[4] for case in CASES]
    assert outcomes() == expected
    monkeypatch.setattr(
        "harness.engine.rating.to_cents",
        lambda amount: amount.quantize(CENT, ROUND_HALF_EVEN, WIDE),
    )
    assert outcomes() != expected


def test_mutation_one_stage_is_noticed(monkeypatch):
    expected = [case[4] for case in CASES]
    monkeypatch.setattr(number, "hours", lambda minutes: WIDE.divide(minutes, Decimal(60)))
    monkeypatch.setattr(
        number, "minutes", lambda seconds: WIDE.divide(Decimal(seconds), Decimal(60))
    )
    assert outcomes() != expected


def test_mutation_floats_is_noticed(monkeypatch):
    expected = [case[4] for case in CASES]
    monkeypatch.setattr(
        "harness.engine.rating.multiply", lambda one, other: Decimal(float(one) * float(other))
    )
    assert outcomes() != expected


def test_hours_are_carried_to_28_places():
    # 20 minutes at 0.015: a third of an hour is cut at 28 places, so the half cent is not reached
    assert str(number.hours(Decimal("20.0000"))) == "0." + "3" * 28
    assert str(rated(1200, "1", "0.015", "1")) == "0.00"


def test_halves_of_both_signs_move_away_from_zero():
    assert str(number.to_cents(Decimal("0.125"))) == "0.13"
    assert str(number.to_cents(Decimal("-0.125"))) == "-0.13"
    assert str(number.to_four(Decimal("-0.00005"))) == "-0.0001"


def test_minutes():
    assert [str(number.minutes(seconds)) for seconds in (0, 1, 2, 10, 60, 2678400)] == [
        "0.0000",
        "0.0167",
        "0.0333",
        "0.1667",
        "1.0000",
        "44640.0000",
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (4, "4.0000"),
        (0, "0.0000"),
        (-3, "-3.0000"),
        (Decimal("0.12345"), "0.1235"),
        (Decimal("1E+3"), "1000.0000"),
        ("8", "8.0000"),
        ("8.5", "8.5000"),
        ("-.5", "-0.5000"),
        ("1e3", "1000.0000"),
        ("+2", "2.0000"),
        ("1e-1000", "0.0000"),
        ("9" * 64, "9" * 64 + ".0000"),
        (10**64 - 2, "9" * 63 + "8.0000"),
        ("9" * 65, None),
        (10**64, None),
        ("1e1001", None),
        (Decimal("1E+1001"), None),
        ("", None),
        ("four", None),
        (" 4", None),
        ("4 GiB", None),
        ("0x10", None),
        ("NaN", None),
        ("\u0665", None),
        (True, None),
        ([4], None),
        ({"a": 1}, None),
        (Decimal("NaN"), None),
    ],
)
def test_what_counts_as_a_quantity(value, expected):
    read = number.quantity(value)
    assert expected is None if read is None else f"{read:f}" == expected


def test_a_counter_knows_no_modifiers():
    priced = parse(
        {
            "version": "v",
            "valid_from": "2026-01-01T00:00:00Z",
            "currency": "EUR",
            "pricing": {
                "p": {
                    "t": {
                        "dimensions": [
                            {"metric": "m", "type": "counter", "price_per_unit": "0.09"}
                        ],
                        "state_modifiers": {"on": "0"},
                        "type_modifiers": {"x": "0"},
                    }
                }
            },
        }
    )
    entry = record(3600, "22.5")
    entry.usage["type"] = "x"
    (result,) = Rater(priced).rate([entry])
    assert (str(result.quantity), str(result.amount)) == ("22.5000", "2.03")


def test_state_modifiers_are_rounded_to_four_places():
    assert str(rated(3600, "100", "1", "0.12345")) == "12.35"


def test_unreadable_members_count_zero_and_are_listed():
    rater = Rater(model("1", "1"))
    entry = record(3600, "1")
    entry.usage["m"] = "four"
    (result,) = rater.rate([entry])
    assert (str(result.quantity), str(result.amount)) == ("0.0000", "0.00")
    assert dict(rater.unreadable) == {("p", "t", "m"): 1}
    del entry.usage["m"]
    (result,) = rater.rate([entry])
    assert (str(result.quantity), str(result.amount)) == ("0.0000", "0.00")
    assert dict(rater.unreadable) == {("p", "t", "m"): 1}
