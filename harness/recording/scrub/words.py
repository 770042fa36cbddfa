"""Words the services themselves say; a text that is none of them is somebody's."""

from __future__ import annotations

import re

from harness.oslo import EXCHANGES

#: States, kinds and priorities of compute, block storage, images, network, load balancers and DNS.
WORDS = frozenset(
    """
    a aaaa accepted active activity add allocated any attach attached attaching audit authenticate
    authorize available awaiting-transfer backing-up backup bare block_device_mapping bridge build
    building caa cname community confirm control copying create created creating critical crashed
    custom dead debug degraded delete deleted deleting deny detach detached detaching direct
    disable disabled down downloading egress enable enabled error error_backing-up error_deleting
    error_extending error_managing error_restoring evaluate evicting exists extending failed
    failed-over failing-over failing_over failure ha-router http https hw_veb icmp icmpv6
    image_backup image_pending_upload image_snapshot image_snapshot_pending image_uploading
    import importing inactive info ingress in-use ipv4 ipv6 icmp6 icmp6-echo iso job killed
    maintenance managing master md migrate migrating monitor mx naptr networking no_monitor none
    normal notify ns octavia offline online other ovf ova ovs paused pausing pending
    pending_create pending_delete pending_update physical powering-off powering-on pre-migrating
    primary private ptr public queued qcow2 raw read read/allow read/list reboot reboot_pending
    reboot_pending_hard reboot_started reboot_started_hard rebooting rebooting_hard rebuild
    rebuild_block_device_mapping rebuild_spawning rebuilding removing rescue rescued rescuing
    reserved reset resize resize_confirming resize_finish resize_migrated resize_migrating
    resize_prep resize_reverting resized restoring restoring-backup resume resuming retype
    retyping revert ro running rw sample saving scheduling sctp secondary shared shelved
    shelved_offloaded shelving shelving_image_pending_upload shelving_image_uploading
    shelving_offloading shutdown shutoff smartnic soft-delete soft-deleted soft-deleting soa
    spawning spf srv sshfp starting stopped stopping success suspend suspended suspending tap tcp
    txt udp unattached unbound uninitialized unknown unmanaging unpausing unrescuing unset
    unshelving update updating updating_password uploading verify_resize vdi vhd vhdx
    virtio-forwarder vhostuser warn warning_error warn-error vmdk vpc
    aki ami ari ploop docker compressed binding_failed distributed hostdev_physical macvtap
    baremetal vdpa accelerator-direct accelerator-direct-physical remote-managed
    compute:nova network:dhcp network:distributed network:floatingip
    network:floatingip_agent_gateway network:ha_router_replicated_interface
    network:router_centralized_snat network:router_gateway network:router_interface
    network:router_interface_distributed
    """.split()  # noqa: SIM905 - two hundred words are easier to read without their quotes
)
_NUMBER = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3})?")
#: The names versioned payloads go by.
_PAYLOAD = re.compile(r"[A-Z][A-Za-z]{2,50}Payload|nova")

#: Exchanges beside the simulated ones, and usual routing keys.
_OTHER_EXCHANGES = frozenset(
    {"ceilometer", "cinder", "heat", "ironic", "magnum", "manila", "swift", "trove"}
)
_KEY = re.compile(
    r"(?:versioned_)?notifications(?:\.(?:audit|critical|debug|error|info|sample|warn|warning))?"
)
_EVENT_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_:-]*(?:[. ][A-Za-z0-9_:-]+)*|")
#: Why a recording ended, up to a colon.
ENDINGS = frozenset({"complete", "connection lost", "idle", "interrupted", "limit", "time"})

#: The words of an oracle; those of a month's faults among them.
FAULTS = frozenset(
    {"duplicates", "held-back", "missing-create", "pre-existing", "refused-shapes", "reordering"}
)
_WORKLOADS = frozenset({"classic", "gardener", "ci"})
_RESOURCE_TYPES = frozenset({"floating_ip", "image", "instance", "loadbalancer", "volume"})


def is_word(text: str) -> bool:
    """Tell whether a text is a word of the services, in whatever case, or a small number."""
    return (
        text.lower() in WORDS
        or _NUMBER.fullmatch(text) is not None
        or _PAYLOAD.fullmatch(text) is not None
    )


def is_usual_exchange(text: str) -> bool:
    """Tell whether services publish to an exchange of this name without being told to."""
    return not text or text in EXCHANGES or text in _OTHER_EXCHANGES


def is_usual_key(text: str) -> bool:
    """Tell whether services publish under this routing key without being told to."""
    return not text or _KEY.fullmatch(text) is not None


def is_usual_of_oracle(text: str, member: str) -> bool:
    """Tell whether a text of an oracle is one of its own words."""
    if member == "workload":
        return text in _WORKLOADS
    if member == "faults":
        return text in FAULTS
    if member == "resource_type":
        return text in _RESOURCE_TYPES
    if member == "state":
        return is_word(text)
    return member == "event_type" and _EVENT_TYPE.fullmatch(text) is not None
