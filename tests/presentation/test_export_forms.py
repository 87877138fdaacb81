"""Archives and tables of bulk downloads, whatever the names in them."""

from __future__ import annotations

import io
import tarfile
import zipfile

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.presentation.export_forms import Csv, File, Joined, Tar, Zip, folder


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


def test_a_zip_archive_is_written_in_portions_and_always_the_same() -> None:
    files = [File("Autumn: 1", "1.sgf", 1_700_000_000, b"(;EV[Autumn])"), File("Autumn: 1", "2.sgf", 0, b"x" * 5000)]

    def written() -> bytes:
        form = Zip()
        return form.begin() + b"".join(form.chunk([file]) for file in files) + form.end()

    with zipfile.ZipFile(io.BytesIO(written())) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["Autumn_ 1/1.sgf", "Autumn_ 1/2.sgf"]
        assert [archive.read(name) for name in archive.namelist()] == [file.content for file in files]
        assert archive.getinfo("Autumn_ 1/1.sgf").date_time == (2023, 11, 14, 22, 13, 20)
        assert archive.getinfo("Autumn_ 1/2.sgf").date_time[0] == 1980, "no earlier time can be said"
    assert written() == written()
    assert len(written()) < 1000


def test_files_one_after_another() -> None:
    form = Joined()
    assert form.chunk([File("a", "1.sgf", 0, b"(;A)\n"), File("a", "2.sgf", 0, b"(;B)\n")]) == b"(;A)\n(;B)\n"
