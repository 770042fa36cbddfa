"""Exports of a run: JSON documents or CSV tables, in a directory of their own."""

from harness.engine.export.directory import Directory, require_empty
from harness.engine.export.documents import file_names, write_documents
from harness.engine.export.tables import write_tables

__all__ = ["Directory", "file_names", "require_empty", "write_documents", "write_tables"]
