"""Files of users: what is read from them, and what is said of those that cannot be read."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.validation import InputError
from tailproof.verification import datafile
from tailproof.verification.datafile import read_table, read_words


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(path)


def as_libsvm(rows: np.ndarray) -> str:
    """Zeros left out, numbers written so that they are read back to the same bits."""
    lines = [
        " ".join([repr(float(row[-1])), *(f"{j + 1}:{float(x)!r}" for j, x in enumerate(row[:-1]) if x != 0)])
        for row in rows
    ]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------------------------------------------------------- LIBSVM

NUMBERS = st.one_of(st.just(0.0), st.floats(allow_nan=False, allow_infinity=False), st.integers(-3, 3).map(float))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 5).flatmap(lambda d: st.lists(st.lists(NUMBERS, min_size=d + 1, max_size=d + 1), min_size=1, max_size=6))
)
def test_libsvm_is_read_as_its_dense_form(tmp_path_factory: pytest.TempPathFactory, rows: list[list[float]]) -> None:
    dense, folder = np.array(rows), tmp_path_factory.mktemp("libsvm")
    d = dense.shape[1] - 1
    table = read_table(written(folder, "x.svm", as_libsvm(dense)), features=d)
    assert table.columns == (*map(str, range(1, d + 1)), "label")
    assert table.label == "label"
    np.testing.assert_array_equal(table.rows, dense)


def test_libsvm_and_csv_of_the_same_records_agree(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((300, 20)) * (rng.random((300, 20)) < 0.3)
    dense[:, -1] = rng.choice([-1.0, 1.0], 300)
    dense[0, -2] = 1.0  # the largest index occurs
    comma = "\n".join(",".join(repr(float(x)) for x in row) for row in dense)
    first, second = (read_table(written(tmp_path, *f)) for f in (("x.libsvm.gz", as_libsvm(dense)), ("x.csv", comma)))
    np.testing.assert_array_equal(first.rows, second.rows)


def test_libsvm_comments_blank_lines_signs_and_tabs(tmp_path: Path) -> None:
    text = "# made by hand\n\n+1 1:1e-2\t3:-.5  # the first\r\n-1\n 1  2:+7 \n"
    table = read_table(written(tmp_path, "x.t", text))
    np.testing.assert_array_equal(table.rows, [[0.01, 0, -0.5, 1], [0, 0, 0, -1], [0, 7, 0, 1]])


@pytest.mark.parametrize("name", ["a9a", "a9a.gz", "data.txt", "x.csv"])
def test_libsvm_is_recognised_by_its_looks(name: str, tmp_path: Path) -> None:
    assert read_table(written(tmp_path, name, "-1\n\n+1 3:1 5:2\n")).rows.shape == (2, 6)


def test_csv_is_not_taken_for_libsvm(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, "x", "1\n2\n3\n")).rows.tolist() == [[1], [2], [3]]
    assert read_table(written(tmp_path, "y", "when,what\n2020-01-01 12:30,5\n")).columns == ("when", "what")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 1:2\n1 qid:3 1:2\n", "line 2: 'qid:3': files with query groups"),
        ("1 1:2\n\nyes 1:2\n", "line 3: the label 'yes' must be a number"),
        ("1_0 1:2\n", "line 1: the label '1_0' must be a number"),
        ("1,2 1:2\n", "line 1: the label '1,2' must be a number"),
        ("1 1:2 x:3\n", "line 1: 'x:3' must read INDEX:VALUE"),
        ("1 1:2 2:x\n", "line 1: '2:x' must read"),
        ("1 1:2 2:1_0\n", "line 1: '2:1_0' must read"),
        ("1 1:2 3\n", "line 1: '3' must read"),
        ("1 1:2:3 4\n", "line 1: '1:2:3' must read"),
        ("1 1: 2\n", "line 1: '1:' must read"),
        ("1 -1:2\n", "line 1: '-1:2' must read"),
        ("1 1.5:2\n", "line 1: '1.5:2' must read"),
        ("1 1:2\n1 0:2\n", "line 2: index 0 must be at least 1"),
        ("1 5:2\n# half\n1 1:2 3:1 3:1\n", "line 3: index 3 must be larger than the one before it"),
        ("1 1:2 3:1 2:1\n", "line 1: index 2 must be larger"),
        ("1\n-1\n", "has no features"),
        ("# nothing\n", "is empty"),
        ("1 1:1\n1 2:1 999999999:1\n", "need 16 GB as a dense table; at most 4 GB is allowed"),
        ("1 1:1\n1 99999999999999999999999:1\n", "at most 4 GB is allowed"),
    ],
)
def test_libsvm_errors_name_file_line_and_fault(text: str, said: str, tmp_path: Path) -> None:
    path = written(tmp_path, "x.svm", text)
    with pytest.raises(InputError) as error:
        read_table(path)
    assert said in str(error.value)
    assert "x.svm" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_limit_is_for_the_dense_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "x.svm", "1 1:1 4:2\n-1 2:5\n")
    monkeypatch.setattr(datafile, "LARGEST_TABLE", 2 * 5 * 8)
    assert read_table(path).rows.shape == (2, 5)
    monkeypatch.setattr(datafile, "LARGEST_TABLE", 2 * 5 * 8 - 1)
    with pytest.raises(InputError, match="2 records of 4 features"):
        read_table(path)


def test_the_number_of_features_can_be_fixed(tmp_path: Path) -> None:
    path = written(tmp_path, "x.svm", "1 1:1\n-1 3:5\n")
    assert read_table(path, features=7).rows.shape == (2, 8)
    with pytest.raises(InputError, match="line 2: index 3 must be at most features = 2"):
        read_table(path, features=2)
    with pytest.raises(InputError, match="features = 0"):
        read_table(path, features=0)
    with pytest.raises(InputError, match="LIBSVM files only"):
        read_table(written(tmp_path, "x.csv", "1,2\n"), features=1)


def test_a_broken_archive(tmp_path: Path) -> None:
    whole = gzip.compress(as_libsvm(np.random.default_rng(0).standard_normal((50, 9))).encode())
    for name, content in (("cut.svm.gz", whole[:-40]), ("other.svm.gz", b"1 1:1\n"), ("cut.csv.gz", whole[:200])):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="not a readable"):
            read_table(str(tmp_path / name))


# ------------------------------------------------------------------------------------------------------------ CSV and .npy


def test_csv_with_words(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", "﻿age, sex ,pay\n39,m,>50K\n\n17, f , <=50K\n")
    table = read_table(path)
    assert table.columns == ("age", "sex", "pay")
    assert table.words == path
    np.testing.assert_array_equal(table.rows, [[39, np.nan, np.nan], [17, np.nan, np.nan]])
    assert read_words(path, 2) == [">50K", "<=50K"]
    assert read_words(written(tmp_path, "y.csv", "1,2\n3,4\n"), 1) == ["2", "4"]


def test_csv_errors_name_the_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 4 has 1 cells; must have 2"):
        read_table(written(tmp_path, "x.csv", "a,b\n1,2\n\n3\n"))
    with pytest.raises(InputError, match="is empty"):
        read_table(written(tmp_path, "y.csv", "a,b\n"))


def test_empty_npy(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((0, 3)))
    (tmp_path / "y.npy").write_bytes(b"")
    for name, said in (("x.npy", "is empty"), ("y.npy", "not a readable")):
        with pytest.raises(InputError, match=said):
            read_table(str(tmp_path / name))


def test_columns_by_name_and_by_number(tmp_path: Path) -> None:
    named = read_table(written(tmp_path, "x.csv", "a,b\n1,2\n"))
    assert (named.position("b"), named.position("0")) == (1, 0)
    numbered = read_table(written(tmp_path, "x.svm", "1 1:5\n"))
    assert numbered.position("1") == 0
    with pytest.raises(InputError, match="column = '0': must be one of 1, label"):
        numbered.position("0")  # not the first: LIBSVM counts from 1
    with pytest.raises(InputError, match="'a': stands for 2 columns"):
        read_table(written(tmp_path, "y.csv", "a,a\n1,2\n")).position("a")
