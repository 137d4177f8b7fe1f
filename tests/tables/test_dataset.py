"""`Dataset`: subsets and splits, by the definition."""

import math

import numpy as np
import pytest

import gameproof as gp


def numbered(refused: int, granted: int) -> gp.Dataset:
    """Rows that carry their own number."""
    n = refused + granted
    labels = np.concatenate([-np.ones(refused), np.ones(granted)])
    order = np.random.default_rng(0).permutation(n)
    return gp.Dataset("numbered", np.arange(float(n))[:, None], labels[order], gp.Features(("id",)))


def ids(data: gp.Dataset) -> list[float]:
    return data.X[:, 0].tolist()


@pytest.mark.parametrize("n", [2, 10, 40])
@pytest.mark.parametrize("seed", range(5))
def test_balanced_rows_are_half_and_half_and_all_different(n: int, seed: int) -> None:
    data = numbered(20, 90)
    drawn = data.balanced(n, seed)
    assert len(drawn) == n
    assert drawn.y.sum() == 0
    assert len(set(ids(drawn))) == n
    np.testing.assert_array_equal(drawn.y, data.y[drawn.X[:, 0].astype(int)])


def test_balanced_draw_favours_no_row_and_no_place() -> None:
    # Each row with label -1 is drawn with probability 1/2, each place has label -1 with
    # probability 1/2. At 4.5 standard errors, 20 + 20 fair counts fail once in 3,600 seeds.
    data, trials = numbered(20, 20), 4000
    drawn = [data.balanced(20, seed) for seed in range(trials)]
    rows = np.bincount(np.concatenate([d.X[:, 0] for d in drawn]).astype(int), minlength=40)
    places = sum((d.y < 0).astype(int) for d in drawn)
    allowed = 4.5 * math.sqrt(trials / 4)
    assert np.abs(rows - trials / 2).max() < allowed
    assert np.abs(places - trials / 2).max() < allowed


def test_seed_determines_the_draw_and_generators_advance() -> None:
    data = numbered(20, 90)
    assert ids(data.balanced(20, 3)) == ids(data.balanced(20, 3))
    assert ids(data.balanced(20, 3)) != ids(data.balanced(20, 4))
    assert ids(data.balanced(None, 3)) == ids(data.balanced(40, 3))
    assert ids(data.balanced(20, 3)) == ids(data.balanced(20, np.random.default_rng(3)))
    rng = np.random.default_rng(3)
    assert ids(data.balanced(20, rng)) != ids(data.balanced(20, rng))
    one, two = data.split(30, 20, seed=5), data.split(30, 20, seed=5)
    assert [ids(part) for part in one] == [ids(part) for part in two]


@pytest.mark.parametrize("refused", range(1, 7))
@pytest.mark.parametrize("granted", range(1, 7))
def test_split_keeps_the_shares_to_the_nearest_row(refused: int, granted: int) -> None:
    data = numbered(refused, granted)
    n, share = refused + granted, refused / (refused + granted)
    for train in range(1, n):
        for test in (*range(1, n - train + 1), None):
            first, second = data.split(train, test, seed=0)
            assert len(first) == train
            assert len(second) == (n - train if test is None else test)
            assert len(set(ids(first)) | set(ids(second))) == len(first) + len(second)
            assert abs((first.y < 0).sum() - train * share) <= 0.5
            both = len(first) + len(second)
            assert abs((first.y < 0).sum() + (second.y < 0).sum() - both * share) <= 0.5
            for part in (first, second):
                np.testing.assert_array_equal(part.y, data.y[part.X[:, 0].astype(int)])


def test_split_of_balanced_rows_is_balanced() -> None:
    train, test = numbered(200, 900).balanced(280, 1).split(200, 80, seed=1)
    assert (len(train), train.y.sum(), len(test), test.y.sum()) == (200, 0, 80, 0)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (
            lambda d: d.balanced(42, 0),
            r"42 balanced rows need 21 rows with label -1, but there are 20",
        ),
        (lambda d: d.balanced(7, 0), "n must be even .* got 7"),
        (lambda d: d.balanced(0, 0), "n must be at least 2, got 0"),
        (
            lambda d: d.split(100, 20, seed=0),
            "100 training rows and 20 test rows are more than the 110",
        ),
        (lambda d: d.split(110, seed=0), "110 training rows and 1 test rows are more than the 110"),
        (lambda d: d.split(0, 5, seed=0), "train must be at least 1, got 0"),
        (lambda d: d.split(5, 0, seed=0), "test must be at least 1, got 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(ask, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ask(numbered(20, 90))


MIXED = gp.Dataset(
    "mixed",
    np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, np.nan]]),
    np.array([1.0, -1.0, 1.0]),
    gp.Features(("size", "home"), {"home": ("owned", "rented")}, ("size",)),
    source="these lines",
    licence="free",
)


def test_columns_read_as_numbers_or_levels() -> None:
    np.testing.assert_array_equal(MIXED.column("size"), [1.0, np.nan, 3.0])
    assert MIXED.column("home").tolist() == ["owned", "rented", ""]
    with pytest.raises(KeyError, match="no column 'colour'; the columns are size, home"):
        MIXED.column("colour")


def test_complete_rows_lack_nothing() -> None:
    assert MIXED.complete().X.tolist() == [[1.0, 0.0]]


def test_frame_has_the_columns_and_the_labels() -> None:
    frame = MIXED.to_frame()
    assert list(frame.columns) == ["size", "home", "label"]
    assert frame["home"].tolist() == ["owned", "rented", ""]
    assert frame["label"].tolist() == [1.0, -1.0, 1.0]


def test_repr_says_what_it_is_and_where_it_comes_from() -> None:
    assert repr(MIXED).splitlines() == [
        "Dataset mixed: 3 rows, 1 of them with label -1, 2 features, movable: size",
        "  missing: size 1, home 1",
        "  source: these lines",
        "  licence: free",
    ]


def test_fingerprint_tells_any_difference() -> None:
    def fingerprint(**changes) -> str:
        parts = {"X": MIXED.X, "y": MIXED.y, "features": MIXED.features, **changes}
        return gp.Dataset("any name", **parts).fingerprint

    other = MIXED.X.copy()
    other[0, 0] = np.nextafter(1.0, 2.0)
    prints = [
        fingerprint(),
        fingerprint(X=other),
        fingerprint(X=MIXED.X[[1, 0, 2]]),
        fingerprint(y=-MIXED.y),
        fingerprint(features=gp.Features(("size", "house"))),
        fingerprint(features=gp.Features(("size", "home"), {"home": ("rented", "owned")})),
    ]
    assert len(set(prints)) == len(prints)
    assert prints[0] == MIXED.fingerprint == fingerprint(X=np.asfortranarray(MIXED.X))


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: gp.Features(("a", "a")), "columns must have different names, got a, a"),
        (lambda: gp.Features(("a",), movable=("b",)), "movable names 'b', which is not among a"),
        (lambda: gp.Features(("a",), {"c": ()}), "levels names 'c', which is not among a"),
        (lambda: gp.Features(("a\x1b[2J",) * 2), r"got 'a\\x1b\[2J'"),
        (
            lambda: gp.Dataset("x", np.ones((2, 2)), np.ones(2), gp.Features(("a",))),
            "X must have one column for each of 1 features, got shape",
        ),
        (
            lambda: gp.Dataset("x", np.ones((2, 1)), np.array([0.0, 1.0]), gp.Features(("a",))),
            "y must have a label -1 or .1 for each of 2 rows",
        ),
        (
            lambda: gp.Dataset("x", np.ones((2, 1)), np.ones(3), gp.Features(("a",))),
            "y must have a label",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused(build, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build()
