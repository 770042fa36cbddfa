"""The forms of private texts, and of the pseudonyms that stand for them."""

from __future__ import annotations

import ipaddress
import re

from harness.recording.scrub import vocabulary

UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
#: What may be a digest or an id without dashes.
HEX = re.compile(r"(?=.*[0-9])[0-9a-fA-F]{16,128}")
MAC = re.compile(r"[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5}")
EMAIL = re.compile(r"[^@\s/]+@[^@\s/]+")
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)
INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)

#: Ranges set aside for documentation, and the one for measurements, which follows when they are
#: full: none of them is anybody's.
RANGES = tuple(
    map(
        ipaddress.IPv4Network,
        ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "198.18.0.0/15"),
    )
)
RANGE_6 = ipaddress.IPv6Network("2001:db8::/32")

#: A member's name as services choose it; another one is somebody's. No dot, no digit but at the
#: end of a word that has one in OpenStack.
_MEMBER = re.compile(
    r"(?:OS-[A-Z-]{2,20}:)?_?[A-Za-z][A-Za-z_]{0,63}(?::[A-Za-z_]{1,40})?"
    r"|(?:[A-Za-z_]{1,40}_)?(?:ip_?v[46]|accessIPv[46]|md5|sha1|sha256|sha512|l[23]|v[1-4])"
    r"(?:_[A-Za-z_]{1,40})?|nova_object\.(?:changes|data|name|namespace|version)|oslo\.[a-z]{1,20}"
)
_LETTERS = re.compile(r"[a-fA-F]{16,}")
#: A name of hosts: three labels and more, or one of the usual last ones behind the first.
_HOST_NAME = re.compile(
    r"(?:[A-Za-z0-9_-]+\.){2,}[A-Za-z][A-Za-z0-9-]+"
    r"|[A-Za-z0-9_-]+\.(?:cloud|com|corp|dev|eu|example|home|internal|intra|intranet|io|lan|local"
    r"|localdomain|net|org|de|at|ch|uk|us|fr|nl)",
    re.IGNORECASE,
)

_NAME = re.compile(rf"(?:{'|'.join(vocabulary.KIND_WORDS)})-[0-9a-f]{{12}}")
_USER = re.compile(r"user-[0-9a-f]{12}@example\.org")
_HOST = re.compile(r"host-[0-9a-f]{12}\.example")


def is_pseudonymous(text: str) -> bool:
    """Tell whether a text is empty, an instant, or has the form of a pseudonym."""
    if not text or INSTANT.fullmatch(text):
        return True
    if UUID.fullmatch(text) or HEX.fullmatch(text):
        digits = text.replace("-", "").lower()
        return digits[12] == "8" and (len(digits) <= 16 or digits[16] in "89ab")
    if MAC.fullmatch(text):
        return text.startswith("02")
    if URL.fullmatch(text):
        return _is_pseudonymous_url(text)
    return is_reserved(text) or any(form.fullmatch(text) for form in (_NAME, _USER))


def _is_pseudonymous_url(text: str) -> bool:
    host, *path = text.partition("://")[2].split("/")
    return _HOST.fullmatch(host) is not None and all(map(is_pseudonymous, path))


def is_member(name: str) -> bool:
    """Tell whether a member's name is one services choose, and neither an id nor an address."""
    return (
        _MEMBER.fullmatch(name) is not None
        and not _LETTERS.fullmatch(name)
        and not HEX.fullmatch(name)
    )


def looks_private(text: str) -> str:
    """Say what a text that is kept by decision looks like, where it looks like somebody's; or not.

    Event types, and the names of flavors and volume types, have dots and digits of their own.
    """
    what = what_it_looks_like(text)
    if what != "a name or a text":
        return "" if is_pseudonymous(text) else what
    return "a host name" if _HOST_NAME.fullmatch(text) else ""


def is_reserved(text: str) -> bool:
    """Tell whether a text is an address, maybe with the length of its network, of nobody."""
    try:
        address = ipaddress.ip_address(text.partition("/")[0])
    except ValueError:
        return False
    if address.is_unspecified or address.is_loopback:
        return True
    if isinstance(address, ipaddress.IPv6Address):
        return address in RANGE_6
    return any(address in network for network in RANGES)


def what_it_looks_like(text: str) -> str:
    """Say what a text looks like, without saying it."""
    looks = ((UUID, "an id"), (HEX, "an id or a digest"), (MAC, "a hardware address"))
    for form, what in (*looks, (URL, "a URL"), (EMAIL, "an e-mail address")):
        if form.fullmatch(text):
            return what
    try:
        ipaddress.ip_address(text.partition("/")[0])
    except ValueError:
        return "a name or a text"
    return "an address"
