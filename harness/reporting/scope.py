"""What of the store a caller may see."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from sqlalchemy import ColumnElement

from harness.reporting.access import Caller
from harness.reporting.problem import Problem


def visible(
    caller: Caller, cloud: sqlalchemy.Column[Any], project_id: sqlalchemy.Column[Any]
) -> ColumnElement[bool]:
    """Return the condition that keeps to the caller's projects."""
    if caller.projects is None:
        return sqlalchemy.true()
    by_cloud: dict[str, list[str]] = {}
    for name, project in sorted(caller.projects):
        by_cloud.setdefault(name, []).append(project)
    return sqlalchemy.or_(
        sqlalchemy.false(),
        *(
            sqlalchemy.and_(cloud == name, project_id.in_(projects))
            for name, projects in by_cloud.items()
        ),
    )


def check_filter(caller: Caller, cloud: str | None, project_id: str | None) -> None:
    """Refuse a filter that names a project the caller's token does not list.

    Raises:
        Problem: 403.
    """
    if caller.projects is None or project_id is None:
        return
    for its_cloud, its_project in caller.projects:
        if its_project == project_id and cloud in {None, its_cloud}:
            return
    raise Problem("forbidden", "the token does not list this project")


def sees(caller: Caller, cloud: str, project_id: str) -> bool:
    """Whether the caller may see what belongs to a project."""
    return caller.projects is None or (cloud, project_id) in caller.projects
