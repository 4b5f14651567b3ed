"""A file is written whole or not at all."""

import pytest

from kernelwise._files import check_writable, replacing, write_text


def test_text_is_written_as_it_is(tmp_path):
    path = tmp_path / "new" / "page.txt"
    write_text(path, "ä\r\nb\n")
    assert path.read_bytes() == "ä\r\nb\n".encode()


def test_what_fails_leaves_the_old_file_and_no_draft(tmp_path):
    path = tmp_path / "page.txt"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), replacing(path) as draft:
        draft.write_text("half, then \ud800", encoding="utf-8")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_cannot_be_written_to(tmp_path):
    check_writable(tmp_path / "page.txt")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        check_writable(tmp_path / "none" / "page.txt")
