"""The publishing half of ``tally-harness run``: a month on the bus, the cloud's faces beside it."""

from __future__ import annotations

import logging
from contextlib import ExitStack

from harness.broker.address import wait_for_consumer
from harness.broker.clock import VirtualClock
from harness.broker.interface import Publisher
from harness.cli.run_options import Publishing
from harness.cli.run_progress import Progress
from harness.cloud.app import run_app
from harness.cloud.broadcast import Broadcast
from harness.cloud.publication import Publication
from harness.cloud.push import Endpoint, Push
from harness.month import Month
from harness.oracle import Oracle
from harness.service.listener import Listener
from harness.service.signals import Signals

_log = logging.getLogger(__name__)

#: Seconds a stopped run gives the request its push is in.
_FAREWELL = 2.0


def publish(
    settings: Publishing,
    month: Month,
    oracle: Oracle,
    *,
    metrics_interval: int,
    publisher: Publisher,
    signals: Signals,
) -> int:
    """Publish `month` to its end, or until a signal comes, and return the exit status.

    Raises:
        BrokerError: nobody consumes, or a message was not confirmed.
        ListenError: the address is taken.
        PushError: the month is out and its metrics are not.
        Stopped: a signal came before the first message.
    """
    publication = Publication(len(month.stream) + len(month.held), len(month.held))
    broadcast = Broadcast(month, publication)
    wait_for_consumer(settings.url, settings.wait)
    clock = VirtualClock(oracle.start, settings.factor)
    push = None
    if settings.target is not None:
        attributes = {"platform": "openstack", "cloud": month.cloud}
        endpoint = Endpoint(settings.target, attributes)
        push = Push(month, oracle, clock, endpoint, metrics_interval)

    def stop() -> None:
        clock.interrupt()
        publication.interrupt()
        if push is not None:
            push.interrupt()

    with ExitStack() as stack:
        app = run_app(month, oracle, clock, publication, metrics=settings.metrics)
        listener = stack.enter_context(Listener(app, settings.address, settings.port))
        stack.callback(stop)
        signals.gently(stop)
        stack.enter_context(Progress(clock, publication))
        _log.info("listening", extra={"fields": {"port": listener.port}})
        if push is not None:
            push.start()
        done = broadcast.run(publisher, clock)
        if push is not None:
            push.join(None if done and not signals.arrived else _FAREWELL)
        done = done and not signals.arrived
        fields = {"published": publication.published, "total": publication.total}
        if not done:
            fields["held"] = publication.held
        fields["pushed"] = push.pushed if push is not None else 0
        _log.info("completed" if done else "stopped", extra={"fields": fields})
    if done and push is not None and push.error is not None:
        raise push.error
    return 0
