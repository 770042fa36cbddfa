"""Simulated OpenStack months, and the judgement of the pipeline that bills them.

One room per noun; ARCHITECTURE.md says what each is about and what it may import.

==============  =====================================================================
``month``       what the cloud did, generated from a seed (`prng`, `calendar`, `oslo`)
``oracle``      what has to be billed for it, and `compare`, the judgement of an export
``broker``      publishing and consuming, over AMQP or in memory
``collector``   reference pipeline: notifications to canonical events
``reporting``   reference pipeline: the Reporting API that stores them
``engine``      reference pipeline: metering, rating, statements, exports
``stack``       the services around a drill, started and stopped
``drill``       a month taken through a stack and judged
``recording``   recorded buses: record, scrub, verify, replay
``cloud``       the simulated cloud as an OpenStack API and as metrics
``cli``         ``tally-harness``
==============  =====================================================================
"""
