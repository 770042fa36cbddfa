"""Projects, their relations, and their summaries."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from harness.reporting import answers, contract, registry, relations, summary
from harness.reporting.access import Needs
from harness.reporting.contract import Word
from harness.reporting.routes.route import Route, Where, answer

Id = Annotated[Word, Path()]


def _projects(here: Where, wanted: Annotated[contract.ProjectFilter, Query()]) -> Response:
    with here.service.store.read() as connection:
        return answer(registry.projects(connection, wanted))


def _project(here: Where, id: Id) -> Response:  # noqa: A002 -- the parameter's name
    with here.service.store.read() as connection:
        return answer(registry.render(registry.find(connection, id)))


def _register(here: Where, body: contract.NewProject) -> Response:
    project = registry.register(here.service.store, here.caller, body)
    return answer(project, 201, Location=f"/api/v1/projects/{project['id']}")


def _change(here: Where, id: Id, body: contract.ProjectChange) -> Response:  # noqa: A002 -- the parameter's name
    return answer(registry.change(here.service.store, here.caller, id, body))


def _summary(
    here: Where,
    id: Id,  # noqa: A002 -- the parameter's name
    wanted: Annotated[contract.SummaryQuery, Query()],
) -> Response:
    with here.service.store.read() as connection:
        return answer(summary.summary(connection, here.caller, id, wanted))


def _relations(
    here: Where,
    id: Id,  # noqa: A002 -- the parameter's name
    wanted: Annotated[contract.RelationFilter, Query()],
) -> Response:
    with here.service.store.read() as connection:
        return answer(relations.relations(connection, id, wanted))


def _related(
    here: Where,
    id: Id,  # noqa: A002 -- the parameter's name
    wanted: Annotated[contract.RelatedQuery, Query()],
) -> Response:
    with here.service.store.read() as connection:
        return answer(relations.related(connection, id, wanted))


def _relate(here: Where, id: Id, body: contract.NewRelation) -> Response:  # noqa: A002 -- the parameter's name
    service = here.service
    relation = relations.relate(
        service.store, here.caller, id, body, attributing=service.settings.attributing
    )
    return answer(relation, 201, Location=f"/api/v1/projects/{id}/relations/{relation['id']}")


def _change_relation(
    here: Where,
    id: Id,  # noqa: A002 -- the parameter's name
    relation_id: Id,
    body: contract.RelationChange,
) -> Response:
    service = here.service
    return answer(
        relations.change(
            service.store,
            here.caller,
            (id, relation_id),
            body,
            attributing=service.settings.attributing,
        )
    )


def _close_relation(here: Where, id: Id, relation_id: Id) -> Response:  # noqa: A002 -- the parameter's name
    relations.close(here.service.store, here.caller, (id, relation_id))
    return Response(status_code=204)


ROUTES = (
    Route(
        "GET",
        "/api/v1/projects",
        Needs.READ_ALL,
        _projects,
        "List projects by (cloud, external_id)",
        answers.page_of(answers.Project),
    ),
    Route(
        "POST",
        "/api/v1/projects",
        Needs.ADMIN,
        _register,
        "Register a project",
        answers.Project,
        status=201,
        refusals=(409, 422),
    ),
    Route(
        "GET",
        "/api/v1/projects/{id}",
        Needs.READ_ALL,
        _project,
        "Show a project",
        answers.Project,
        refusals=(404,),
    ),
    Route(
        "PATCH",
        "/api/v1/projects/{id}",
        Needs.ADMIN,
        _change,
        "Change a project's name or metadata",
        answers.Project,
        refusals=(404, 422),
    ),
    Route(
        "GET",
        "/api/v1/projects/{id}/summary",
        Needs.PROJECT,
        _summary,
        "Sum a project up over a window",
        answers.Summary,
        refusals=(404, 422),
    ),
    Route(
        "GET",
        "/api/v1/projects/{id}/relations",
        Needs.READ_ALL,
        _relations,
        "List a project's relations by (valid_from, id)",
        answers.page_of(answers.Relation),
        refusals=(404,),
    ),
    Route(
        "POST",
        "/api/v1/projects/{id}/relations",
        Needs.ADMIN,
        _relate,
        "Begin a relation",
        answers.Relation,
        status=201,
        refusals=(404, 409, 422),
    ),
    Route(
        "PATCH",
        "/api/v1/projects/{id}/relations/{relation_id}",
        Needs.ADMIN,
        _change_relation,
        "Change a relation's metadata or end",
        answers.Relation,
        refusals=(404, 409, 422),
    ),
    Route(
        "DELETE",
        "/api/v1/projects/{id}/relations/{relation_id}",
        Needs.ADMIN,
        _close_relation,
        "End a relation now",
        status=204,
        refusals=(404,),
    ),
    Route(
        "GET",
        "/api/v1/projects/{id}/related",
        Needs.READ_ALL,
        _related,
        "Follow a project's relations",
        answers.items_of(answers.RelatedProject),
        refusals=(404,),
    ),
)
