"""What operators and schedulers call: rebuilding the projection."""

from __future__ import annotations

import sqlalchemy
from starlette.responses import Response

from harness.reporting import answers, contract, projection
from harness.reporting.access import Needs
from harness.reporting.routes.route import Route, Where, answer
from harness.reporting.schema import EVENTS


def _rebuild(here: Where, body: contract.RebuildRequest | None = None) -> Response:
    store = here.service.store
    wanted = body or contract.RebuildRequest()
    if wanted.cloud is None:
        with store.read() as connection:
            query = sqlalchemy.select(EVENTS.c.cloud).distinct().order_by(EVENTS.c.cloud)
            clouds = list(connection.execute(query).scalars())
    else:
        clouds = [wanted.cloud]
    rebuilt = 0
    for cloud in clouds:
        with store.write(cloud) as transaction:
            rows = projection.rebuild(transaction, cloud, wanted.resource_type)
            transaction.audit(
                here.caller.actor, "projection.rebuild", {"cloud": cloud, "rebuilt": rows}
            )
            rebuilt += rows
    return answer({"rebuilt": rebuilt})


ROUTES = (
    Route(
        "POST",
        "/internal/projection/rebuild",
        Needs.INTERNAL,
        _rebuild,
        "Derive the projection anew from the events",
        answers.Rebuilt,
    ),
)
