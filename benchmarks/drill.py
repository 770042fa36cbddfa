"""A drill of seed 1 on a running local broker, against publishing and consuming the same bytes.

The drill runs from its first publication to its verdict; bare publishing is confirmed, bare
consuming acknowledges in batches. Ratio at most 4.
"""

from __future__ import annotations

import sys
import time

from harness.broker.publisher import AmqpPublisher
from harness.broker.subscription import AmqpSubscription
from harness.drill import prepare, take
from harness.drill.subject import Subject
from harness.oslo import EXCHANGES
from harness.stack import Options, open_stack

BOUND = 4.0
PREFETCH = 1000


def main() -> int:
    """Measure both in one run, print the ratio, and return 0 when it is within bounds."""
    subject = prepare(1, "2026-07")
    stack = open_stack("local", Options())
    try:
        with stack.month("bare", cloud="os-sim") as opened:
            publishing, consuming = _bare(subject, opened.amqp_url)
        with stack.month("drill", cloud="os-sim") as opened:
            verdict = take(subject, opened, kind="local")
    finally:
        stack.close()
    if verdict != subject:
        print("drill: failed, so there is nothing to measure", *verdict.findings(), sep="\n")
        return 1
    took = verdict.seconds["total"]
    ratio = took / (publishing + consuming)
    phases = ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in verdict.seconds.items())
    print(
        f"drill: {took:.2f} s against {publishing:.2f} s publishing + {consuming:.2f} s consuming, "
        f"ratio {ratio:.2f}, bound {BOUND} ({phases})"
    )
    return 0 if ratio <= BOUND else 1


def _bare(subject: Subject, url: str) -> tuple[float, float]:
    """Publish the month and take it off the bus again; return the seconds each took."""
    notifications = list(subject.notifications())
    publisher = AmqpPublisher(url)
    subscription = AmqpSubscription(
        url, exchanges=EXCHANGES, prefetch=PREFETCH, queue_type="classic"
    )
    try:
        subscription.receive(1, 0.0)
        began = time.perf_counter()
        publisher.publish(notifications)
        published = time.perf_counter()
        taken = 0
        while taken < len(notifications):
            deliveries = subscription.receive(PREFETCH, 10.0)
            if not deliveries:
                raise SystemExit(f"only {taken} of {len(notifications)} messages came back")
            subscription.ack(deliveries)
            taken += len(deliveries)
        consumed = time.perf_counter()
    finally:
        subscription.close()
        publisher.close()
    return published - began, consumed - published


if __name__ == "__main__":
    sys.exit(main())
