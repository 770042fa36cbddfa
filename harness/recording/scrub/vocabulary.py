"""Which members say what: secrets, free text, words to keep, and what billing reads."""

from __future__ import annotations

import functools
import re

#: Members that go, whatever they hold: their name says that it is a secret.
SECRET = re.compile(
    r"passw|passphrase|secret|token|credential|connection_info|user_?data|admin_?pass|adminpass"
    r"|private_?key|public_?key|api_?key|access_?key|key_?data|key_?pair|fingerprint|certificate"
    r"|signature|auth_?(url|key|ref)|authorization|cookie|session|personality|injected_files"
    r"|^key$|^keys$|_key$|^pem$",
    re.IGNORECASE,
)
#: Members named like a secret that are none: a keypair's name is a name.
NO_SECRET = frozenset({"key_name", "keypair_name"})

#: Members that go: people write into them what they like, or their own members do.
FREE = frozenset(
    {
        "addresses",
        "annotations",
        "comment",
        "comments",
        "context",
        "description",
        "details",
        "display_description",
        "exception",
        "extra",
        "extra_properties",
        "extra_specs",
        "fault",
        "faults",
        "fixed_ips_details",
        "image_meta",
        "instance_properties",
        "labels",
        "log",
        "message",
        "metadata",
        "metadetails",
        "note",
        "notes",
        "properties",
        "reason",
        "request_context",
        "scheduler_hints",
        "state_description",
        "stack_trace",
        "status_reason",
        "system_metadata",
        "tags",
        "title",
        "traceback",
        "volume_glance_metadata",
        "volume_image_metadata",
    }
)

#: Members of the request context that resolve a project; every other one goes.
CONTEXT = frozenset({"_context_project_id", "_context_tenant_id"})

#: Members whose text amounts depend on, kept whatever it is.
BILLED = frozenset({"event_type", "instance_type", "volume_type"})

#: Members that hold one of a service's own words, kept while it is one.
WORDS = frozenset(
    {
        "action",
        "attach_mode",
        "attach_status",
        "binding:vif_type",
        "binding:vnic_type",
        "container_format",
        "device_owner",
        "direction",
        "disk_format",
        "ethertype",
        "eventType",
        "migration_status",
        "new_task_state",
        "nova_object.name",
        "nova_object.namespace",
        "nova_object.version",
        "old_state",
        "old_task_state",
        "operating_status",
        "outcome",
        "power_state",
        "priority",
        "protocol",
        "provisioning_status",
        "reasonCode",
        "reasonType",
        "replication_status",
        "snapshot_status",
        "state",
        "status",
        "task_state",
        "type",
        "visibility",
        "vm_state",
    }
)

#: What stands ahead of the host in a publisher's id.
SERVICES = frozenset(
    {
        "api",
        "barbican",
        "block_storage",
        "central",
        "compute",
        "conductor",
        "identity",
        "image",
        "loadbalancer",
        "network",
        "nova-api",
        "nova-compute",
        "octavia",
        "scheduler",
        "snapshot",
        "volume",
    }
)

#: What a member's name says about the name in it: the kind its pseudonym begins with.
KINDS = (
    (re.compile(r"host|hypervisor|node$", re.IGNORECASE), "host"),
    (re.compile(r"user|owner|initiator", re.IGNORECASE), "user"),
    (re.compile(r"project|tenant", re.IGNORECASE), "project"),
    (re.compile(r"domain|zone|dns|fqdn", re.IGNORECASE), "zone"),
    (re.compile(r"(^|_)id$|uuid|^resource_", re.IGNORECASE), "id"),
    (re.compile(r"path|url|uri|mount|device", re.IGNORECASE), "path"),
    (re.compile(r"name", re.IGNORECASE), "name"),
)
KIND = "text"
KIND_WORDS = ("cloud", "host", "id", "key", "name", "path", "project", "text", "user", "zone")

#: What the mapping and the fold read of an inner message, and of a payload.
READ_OF_MESSAGE = frozenset({"event_type", "message_id", "payload", "timestamp"}) | CONTEXT
READ_OF_PAYLOAD = frozenset(
    {
        "ephemeral_gb",
        "floatingip",
        "floatingip_id",
        "id",
        "instance_id",
        "instance_type",
        "listeners",
        "loadbalancer_id",
        "memory_mb",
        "owner",
        "pools",
        "project_id",
        "root_gb",
        "size",
        "state",
        "status",
        "tenant_id",
        "vcpus",
        "volume_id",
        "volume_type",
    }
)
READ_OF_FLOATING_IP = frozenset({"floating_ip_address", "id", "tenant_id"})
#: Lists of which the length is read, and nothing else.
COUNTED = frozenset({"listeners", "pools"})


@functools.lru_cache(4096)
def is_secret(member: str) -> bool:
    """Tell whether a member's name says that it holds a secret."""
    return member not in NO_SECRET and SECRET.search(member) is not None


@functools.lru_cache(4096)
def kind_of(member: str) -> str:
    """Return the kind of name a member holds."""
    return next((kind for pattern, kind in KINDS if pattern.search(member)), KIND)
