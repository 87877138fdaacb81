"""Archives and tables of bulk downloads, whatever the names in them."""

from __future__ import annotations

import io
import tarfile

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.presentation.export_forms import Csv, File, Tar, folder


@given(
    st.lists(
        st.builds(File, st.text(max_size=300), st.text(max_size=300), st.integers(0, 2**33), st.binary(max_size=1500)),
        max_size=6,
    )
)
def test_any_names_and_contents_come_out_of_an_archive(files: list[File]) -> None:
    tar = Tar()
    data = tar.begin() + tar.chunk(files[:2]) + tar.chunk(files[2:]) + tar.end()
    assert len(data) % tarfile.RECORDSIZE == 0
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = archive.getmembers()
        assert len(members) == len(files)
        for member, file in zip(members, files, strict=True):
            taken = archive.extractfile(member)
            assert taken is not None
            assert taken.read() == file.content
            assert member.mtime == file.at
            assert member.name == f"{folder(file.folder)}/{folder(file.name)}"


@given(st.text())
def test_a_folder_stays_one_folder(name: str) -> None:
    safe = folder(name)
    assert safe
    assert not set(safe) & set("/\\\0\n")
    assert safe.strip(". ")


class Row(msgspec.Struct):
    name: str
    there: bool | None


def test_a_table_quotes_what_needs_it() -> None:
    form = Csv(Row)
    assert form.begin() == b"name,there\r\n"
    assert form.chunk([Row('a "b", c', True), Row("", None)]) == b'"a ""b"", c",true\r\n,\r\n'
