"""What the cloud did in a month, generated from a seed.

`generate` makes the month, `render` turns its transitions into the bytes on the bus.

=================  ==============================================================
`generation`       the whole: generate, audit, sort, give ids, let faults act
`catalog`          what does not depend on a seed: flavors, hosts, names
`world`            who lives in the cloud before the first transition
`resources`        what lives in it, as it stands at a point of the generation
`draft`            the month under construction
`classic, lives`   the classic tenants
`gardener`         the Gardener projects; a shoot's days are `shoot_days`
`ci`               the CI tenant
`audits`           the daily audits
`sequences`        what one step puts on the bus, noise included
`payloads`         what notifications carry
`faults`           the fault switches; `leads` and `twins` belong to them
=================  ==============================================================
"""

from harness.month.faults import FAULTS, check_faults
from harness.month.generation import generate
from harness.month.inputs import check_cloud, check_seed
from harness.month.model import Fact, Kind, Month, Relation, Tenant, Transition

__all__ = [
    "FAULTS",
    "Fact",
    "Kind",
    "Month",
    "Relation",
    "Tenant",
    "Transition",
    "check_cloud",
    "check_faults",
    "check_seed",
    "generate",
]
