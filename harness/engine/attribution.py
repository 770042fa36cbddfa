"""Attribution: whose statement a project's cost appears on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.engine.record import Warned
from harness.engine.reporting import Project, Relation

MULTIPLE_PATHS = "attribution_multiple_paths"
CYCLE = "attribution_cycle"


@dataclass(frozen=True, slots=True)
class Owner:
    """A project as records name it.

    Attributes:
        cloud: the cloud it lives in.
        project_id: its id there.
        platform: kind of system.
    """

    cloud: str
    project_id: str
    platform: str


@dataclass(frozen=True, slots=True)
class Attribution:
    """Where each project's cost goes.

    Attributes:
        claims: (cloud, project id) to the root that takes the cost and the type of the relation
            that won it; a project that is absent keeps its cost.
        registered: (cloud, project id) of every registered project.
        warnings: projects that more than one relation claims, and cycles.
    """

    claims: dict[tuple[str, str], tuple[Owner, str]]
    registered: frozenset[tuple[str, str]]
    warnings: Sequence[Warned]


def attribute(projects: Iterable[Project], relations: Sequence[Relation]) -> Attribution:
    """Walk the relations from the projects nothing points at, one step after another.

    Args:
        projects: the registry.
        relations: of the attributing types and valid in the period, in order of their ids.

    A project belongs to the first relation that reaches it; within a step the lowest id is first.
    A project only cycles lead to keeps its cost.
    """
    by_id = {project.id: project for project in projects}
    outgoing: dict[str, list[int]] = {}
    for index, relation in enumerate(relations):
        outgoing.setdefault(relation.source_id, []).append(index)
    targets = {relation.target_id for relation in relations}
    root_of = {source: source for source in outgoing if source not in targets}
    winner: dict[str, Relation] = {}
    warnings: list[Warned] = []
    frontier = set(root_of)
    while frontier:
        step = sorted(index for source in frontier for index in outgoing.get(source, ()))
        frontier = set()
        for relation in (relations[index] for index in step):
            target = relation.target_id
            if target in root_of:
                warnings.append(
                    Warned(
                        MULTIPLE_PATHS,
                        None,
                        f"project {_said(by_id, target)} stays with {_said(by_id, root_of[target])}"
                        f"; relation {relation.id} reaches it, too",
                    )
                )
                continue
            root_of[target] = root_of[relation.source_id]
            winner[target] = relation
            frontier.add(target)
    warnings += [
        Warned(
            CYCLE,
            None,
            f"project {_said(by_id, target)} is reached by a cycle only and stands alone",
        )
        for target in sorted(targets - root_of.keys())
    ]
    claims = {
        _key(by_id[target]): (_owner(by_id[root_of[target]]), relation.relation_type)
        for target, relation in winner.items()
        if target in by_id and root_of[target] in by_id
    }
    return Attribution(claims, frozenset(_key(project) for project in by_id.values()), warnings)


def _key(project: Project) -> tuple[str, str]:
    return project.cloud, project.external_id


def _owner(project: Project) -> Owner:
    return Owner(project.cloud, project.external_id, project.platform)


def _said(by_id: dict[str, Project], project_id: str) -> str:
    project = by_id.get(project_id)
    return project_id if project is None else f"{project.cloud}/{project.external_id}"
