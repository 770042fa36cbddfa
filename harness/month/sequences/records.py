"""What a Gardener project publishes in its zone."""

from __future__ import annotations

from harness.month.catalog import DESIGNATE
from harness.month.draft import Draft, Subject
from harness.month.payloads import designate
from harness.month.resources import RecordSet
from harness.month.world import Garden


def create_zone(draft: Draft, garden: Garden, instant: int) -> None:
    """Create the zone of a project."""
    zone = garden.zone
    subject = Subject(draft, "dns.zone", DESIGNATE, garden.tenant, zone.zone_id)
    subject.note(instant, "create", designate.zone(garden.tenant, zone, instant))


def publish(draft: Draft, garden: Garden, name: str, address: str, instant: int) -> RecordSet:
    """Create and return a record set; `name` comes without that of the zone."""
    zone = garden.zone
    record = RecordSet(draft.noise_ids.uuid(), f"{name}.{zone.name}", address)
    payload = designate.record_created(garden.tenant, zone, record, instant)
    _subject(draft, garden, record).note(instant, "create", payload)
    return record


def withdraw(draft: Draft, garden: Garden, record: RecordSet, instant: int) -> None:
    """Delete a record set."""
    payload = designate.record_deleted(garden.tenant, garden.zone, record, instant)
    _subject(draft, garden, record).note(instant, "delete", payload)


def _subject(draft: Draft, garden: Garden, record: RecordSet) -> Subject:
    return Subject(draft, "dns.recordset", DESIGNATE, garden.tenant, record.record_set_id)
