"""Register the size schemas of OpenStack's five resource types."""

from __future__ import annotations

import json
import time

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_SIZES: dict[str, dict[str, dict[str, object]]] = {
    "instance": {
        "vcpus": {"type": "integer", "minimum": 1},
        "ram_gb": {"type": "number", "exclusiveMinimum": 0},
        "disk_gb": {"type": "number", "minimum": 0},
        "flavor": {"type": "string"},
    },
    "volume": {
        "size_gb": {"type": "number", "exclusiveMinimum": 0},
        "type": {"type": "string"},
    },
    "floating_ip": {"ip_version": {"enum": [4, 6]}},
    "image": {"size_gb": {"type": "number", "minimum": 0}},
    "loadbalancer": {
        "listeners": {"type": "integer", "minimum": 0},
        "pools": {"type": "integer", "minimum": 0},
    },
}

_RESOURCE_TYPES = sa.table(
    "resource_types",
    sa.column("platform", sa.Text),
    sa.column("resource_type", sa.Text),
    sa.column("size_schema", sa.Text),
    sa.column("updated_at", sa.BigInteger),
)


def upgrade() -> None:
    """Insert the schemas."""
    op.bulk_insert(
        _RESOURCE_TYPES,
        [
            {
                "platform": "openstack",
                "resource_type": resource_type,
                "size_schema": json.dumps(
                    {
                        "$schema": "https://json-schema.org/draft/2020-12/schema",
                        "type": "object",
                        "properties": members,
                        "required": list(members),
                        "x-tally-seed": 6,
                    }
                ),
                "updated_at": time.time_ns() // 1000,
            }
            for resource_type, members in _SIZES.items()
        ],
    )


def downgrade() -> None:
    """Take the schemas out, also replaced ones."""
    op.execute(
        _RESOURCE_TYPES.delete().where(
            _RESOURCE_TYPES.c.platform == "openstack",
            _RESOURCE_TYPES.c.resource_type.in_(list(_SIZES)),
        )
    )
