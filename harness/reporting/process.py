"""The Reporting API as a process: listens until it is told to end."""

from __future__ import annotations

import logging
import signal
import threading

from harness.reporting.app import create_app
from harness.reporting.reconciliation import clouds
from harness.reporting.settings import Settings
from harness.service import log
from harness.service.listener import Listener

_log = logging.getLogger(__name__)


def serve(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT, letting requests under way finish; return 0.

    Raises:
        UsageError: the database URL cannot be used.
        ListenError: the address cannot be listened on.
        CloudsUnreadable: the file of clouds is none; told now, not at the first sync.
    """
    if settings.clouds is not None:
        clouds.read(settings.clouds)
    log.configure("reporting", settings.log_level)
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    app = create_app(settings)
    service = app.state.service
    with service, Listener(app, settings.address, settings.port) as listener:
        trouble = service.trouble()
        if trouble is not None:
            _log.error("not ready", extra={"fields": {"reason": trouble}})
        if not settings.authenticated:
            _log.warning("authentication is switched off: everyone is an admin")
        _log.info("listening", extra={"fields": {"port": listener.port}})
        told.wait()
    _log.info("stopped")
    return 0
