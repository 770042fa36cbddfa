"""CADF records: authentications of keystone, and what barbican's API audits."""

from __future__ import annotations

from msgspec import Struct

from harness.calendar import stamp
from harness.month.catalog import INITIATOR_ADDRESS
from harness.month.model import Tenant
from harness.month.payloads import Payload

_EVENT = "http://schemas.dmtf.org/cloud/audit/1.0/event"
_USER = "service/security/account/user"
_OBSERVER = "service/security"

SECRETS = "service/security/keymanager/secrets"
CONTAINERS = "service/security/keymanager/containers"


class Call(Struct, frozen=True):
    """A call to the key manager.

    Attributes:
        action: ``create`` or ``delete``.
        code: HTTP status of the answer.
        path: of the request.
        target_type: `SECRETS` or `CONTAINERS`.
        target_id: of the secret or container.
    """

    action: str
    code: str
    path: str
    target_type: str
    target_id: str


def authenticated(tenant: Tenant, record_id: str, instant: int) -> Payload:
    """Return the record of an authentication."""
    return {
        **_record(tenant, record_id, instant, "keystone-01"),
        "action": "authenticate",
        "outcome": "success",
        "target": {"id": tenant.user_id, "typeURI": _USER},
    }


def requested(cloud: str, tenant: Tenant, call: Call, record_id: str, instant: int) -> Payload:
    """Return the record of a request."""
    return {**_call(cloud, tenant, call, record_id, instant), "outcome": "pending"}


def answered(cloud: str, tenant: Tenant, call: Call, record_id: str, instant: int) -> Payload:
    """Return the record of an answer."""
    return {
        **_call(cloud, tenant, call, record_id, instant),
        "outcome": "success",
        "reason": {"reasonCode": call.code, "reasonType": "HTTP"},
    }


def _call(cloud: str, tenant: Tenant, call: Call, record_id: str, instant: int) -> Payload:
    url = f"https://barbican.{cloud}.example:9311{call.path}"
    return {
        **_record(tenant, record_id, instant, "barbican-01"),
        "action": call.action,
        "requestPath": call.path,
        "target": {
            "addresses": [{"url": url}],
            "id": call.target_id,
            "typeURI": call.target_type,
        },
    }


def _record(tenant: Tenant, record_id: str, instant: int, observer: str) -> Payload:
    return {
        "eventTime": stamp(instant).replace(" ", "T") + "+00:00",
        "eventType": "activity",
        "id": record_id,
        "initiator": {
            "host": {"address": INITIATOR_ADDRESS},
            "id": tenant.user_id,
            "project_id": tenant.project_id,
            "typeURI": _USER,
        },
        "observer": {"id": observer, "typeURI": _OBSERVER},
        "typeURI": _EVENT,
    }
