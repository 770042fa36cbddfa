"""What operators and schedulers call: rebuilding the projection, reconciling a cloud."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from typing import Annotated

import sqlalchemy
from fastapi import Path
from starlette.responses import Response

from harness.errors import HarnessError
from harness.reporting import answers, contract, problem, projection
from harness.reporting.access import Needs
from harness.reporting.contract import Word
from harness.reporting.reconciliation import clouds
from harness.reporting.reconciliation.observation import Adapter
from harness.reporting.routes.route import Route, Where, answer
from harness.reporting.schema import EVENTS

Part = Annotated[Word, Path()]

_log = logging.getLogger(__name__)


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


def _sync(here: Where, cloud: Part, body: contract.SyncRequest | None = None) -> Response:
    service = here.service
    at = None if body is None else body.at
    if at is not None and not service.settings.sync_allow_at:
        raise problem.contract(
            ("body.at", "is taken under TALLY_REPORTING_SYNC_ALLOW_AT=true only")
        )
    path = service.settings.clouds
    known = {} if path is None else clouds.read(path)
    if cloud not in known:
        raise problem.Problem("not_found", "TALLY_REPORTING_CLOUDS_CONFIG names no such cloud")
    try:
        with _adapter(known[cloud]) as adapter:
            outcome = service.sync.run(known[cloud], adapter, at=at)
    except HarnessError as error:
        _log.exception("sync failed", extra={"fields": {"cloud": cloud}})
        raise problem.Problem("internal", "the sync did not complete; the log says why") from error
    return answer(outcome.document())


def _adapter(cloud: clouds.Cloud) -> AbstractContextManager[Adapter]:
    from harness.reporting.reconciliation.openstack import OpenStack  # noqa: PLC0415 -- an extra, and slow to import

    return OpenStack(cloud)


ROUTES = (
    Route(
        "POST",
        "/internal/projection/rebuild",
        Needs.INTERNAL,
        _rebuild,
        "Derive the projection anew from the events",
        answers.Rebuilt,
    ),
    Route(
        "POST",
        "/internal/sync/{cloud}",
        Needs.INTERNAL,
        _sync,
        "Reconcile a cloud",
        answers.SyncAnswer,
        refusals=(404, 409),
    ),
)
