"""The documentation's site can be built, takes in what lies outside docs/, and refuses links that lead nowhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "docs" / "site" / "properdocs.yml"


def build(configuration: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "properdocs", "build", "--config-file", configuration, "--site-dir", site]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_site_has_the_documents_and_what_they_link(tmp_path: Path) -> None:
    built = build(CONFIGURATION, tmp_path)
    assert built.returncode == 0, built.stderr
    for page in (ROOT / "docs").glob("*.md"):
        assert (tmp_path / f"{page.stem}.html").exists(), page
    first = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'href="source/clients/examples/random_bot.py"' in first
    assert 'src="images/demo.svg"' in first
    deployment = (tmp_path / "source" / "deploy" / "index.html").read_text(encoding="utf-8")
    assert 'href="../../operator.html#postgresql"' in deployment
    assert (tmp_path / "source/clients/examples/random_bot.py").exists()
    assert "https://cdn" not in first, "a page of the site loads nothing from elsewhere"


@pytest.mark.parametrize("link", ["nowhere.md", "../clients/nowhere.py", "page.md#nowhere"])
def test_a_link_that_leads_nowhere_is_refused(link: str, tmp_path: Path) -> None:
    settings = CONFIGURATION.read_text(encoding="utf-8").partition("nav:\n  - ")[0]
    hook = CONFIGURATION.with_name("source_links.py")
    site = tmp_path / "docs" / "site"
    site.mkdir(parents=True)
    (tmp_path / "README.md").write_text("# Readme\n", encoding="utf-8")
    (site.parent / "page.md").write_text(f"# Page\n\n[broken]({link})\n", encoding="utf-8")
    (site / hook.name).write_bytes(hook.read_bytes())
    (site / CONFIGURATION.name).write_text(settings, encoding="utf-8")
    built = build(site / CONFIGURATION.name, tmp_path / "site")
    assert built.returncode != 0
    assert "nowhere" in built.stderr
