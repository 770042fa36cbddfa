"""Bringing an image into the cloud."""

from __future__ import annotations

from harness.month.catalog import GLANCE, IMAGE_STEP
from harness.month.draft import Draft, Subject
from harness.month.model import Tenant
from harness.month.payloads import glance
from harness.month.resources import Image
from harness.month.sizes import of_image


def register(draft: Draft, tenant: Tenant, image_id: str, name: str, within: int) -> Image:
    """Announce an image in the first `within` seconds of the month, and upload it soon after.

    Returns:
        The image, of 1 to 4 GiB.
    """
    created = draft.start + draft.seconds(0, within)
    uploaded = created + draft.seconds(30, 120)
    image = Image(image_id, name, created, (4 + draft.shape.below(13)) * IMAGE_STEP)
    registered = subject(draft, tenant, image)
    registered.announce(created, "create", glance.created(tenant, image))
    registered.note(uploaded - 1, "prepare", glance.prepared(tenant, image))
    payload = glance.uploaded(tenant, image, uploaded)
    registered.book(uploaded, "upload", payload, ("active", of_image(image)))
    registered.note(uploaded + 1, "activate", payload)
    return image


def delete(draft: Draft, tenant: Tenant, image: Image, instant: int) -> None:
    """Delete an image."""
    payload = glance.deleted(tenant, image, instant)
    subject(draft, tenant, image).book(instant, "delete", payload, None)


def subject(draft: Draft, tenant: Tenant, image: Image) -> Subject:
    """Return what glance reports an image as."""
    return Subject(draft, "image", GLANCE, tenant, image.image_id)
