"""Where the documents' links lead on the documentation site.

The documents are written to be read in the source tree: they link to each other, and to files outside `docs/`, by
relative paths. This hook of ProperDocs adds the files that are linked to the site (`README.md` as its first page, all
others below `source/`) and turns every link accordingly. A link to a file that does not exist stays as it is, so that a
strict build refuses it. Must not know: which pages there are, or how they look.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from properdocs.config.defaults import ProperDocsConfig
from properdocs.structure.files import File, Files
from properdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")


def site_path(file: Path) -> str:
    """The path below the site's documents of a file of the source tree."""
    if file == ROOT / "README.md":
        return "index.md"
    if file.is_relative_to(DOCS):
        return file.relative_to(DOCS).as_posix()
    return f"source/{file.relative_to(ROOT).as_posix()}"


def linked(document: Path) -> Iterator[Path]:
    """The files outside `docs/` to which a document links."""
    for target in LINK.findall(document.read_text(encoding="utf-8")):
        file = (document.parent / target).resolve()
        if file.is_file() and not file.is_relative_to(DOCS):
            yield file


def on_files(files: Files, *, config: ProperDocsConfig) -> Files:
    """Add the first page, and every file that can be reached from it or from a page of `docs/`."""
    added: set[Path] = set()
    waiting = [ROOT / "README.md", *DOCS.glob("*.md")]
    while waiting:
        document = waiting.pop()
        if not document.is_relative_to(DOCS) and document not in added:
            added.add(document)
            files.append(File.generated(config, site_path(document), abs_src_path=str(document)))
        if document.suffix == ".md":
            waiting += [file for file in linked(document) if file not in added]
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Turn the links of a page from places in the source tree to places on the site."""
    document = Path(page.file.abs_src_path or "")
    here = os.path.dirname(page.file.src_uri)

    def turned(found: re.Match[str]) -> str:
        file = (document.parent / found[1]).resolve()
        return os.path.relpath(site_path(file), here or ".") if file.is_file() else found[1]

    return LINK.sub(turned, markdown)
