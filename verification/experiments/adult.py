"""UCI's Adult file (adult.data, adult.test) as numbers, by rules that no record decides.

Words become one feature for each of the values that UCI's description of the file (adult.names) lists; a value that is not listed,
"?" among them, has none of them.  Numbers are divided by round limits, fixed in advance, and cut to [0, 1]: 100 years, 16 levels of
education, 100 hours a week, 100,000 and 10,000 of capital gain and loss.  The sampling weight `fnlwgt` is left out.  So every entry
lies in [0, 1], and a row has norm √13 at most.
"""

from __future__ import annotations

import csv
import math

import numpy as np

from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.datafile import open_text

ROW_NORM = math.sqrt(13)  # 5 numbers and 8 words

LIMITS = {0: 100.0, 4: 16.0, 10: 1e5, 11: 1e4, 12: 100.0}  # age, education-num, capital-gain, capital-loss, hours-per-week

WORDS = {
    1: "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
    3: "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th 10th Doctorate "
    "5th-6th Preschool",
    5: "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse",
    6: "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners Machine-op-inspct "
    "Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces",
    7: "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    8: "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    9: "Female Male",
    13: "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece South China Cuba "
    "Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador "
    "Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong "
    "Holand-Netherlands",
}
LABELS = {">50K": 1.0, "<=50K": -1.0}
COLUMNS = 15


def is_adult(path: str) -> bool:
    """By its last column, which holds >50K and <=50K."""
    try:
        with open_text(path, "data") as file:
            return any(_label(line) for _, line in zip(range(3), csv.reader(file), strict=False))
    except InputError:
        return False


def _label(cells: list[str]) -> float | None:
    return LABELS.get(cells[-1].strip().rstrip(".")) if len(cells) == COLUMNS else None


def read_adult(path: str) -> FloatArray:
    """[features | ±1].  Empty lines and the test file's comment are passed over."""
    places = {position: {word: j for j, word in enumerate(words.split())} for position, words in WORDS.items()}
    width = len(LIMITS) + sum(len(words) for words in places.values())
    records: list[FloatArray] = []
    with open_text(path, "CSV") as file:
        for number, line in enumerate(csv.reader(file), start=1):
            if not line or line[0].startswith("|"):
                continue
            label = _label(line)
            if label is None:
                raise InputError(f"data = {path!r}: line {number} must have {COLUMNS} cells, the last >50K or <=50K")
            records.append(_record(line, label, width, places, f"data = {path!r}: line {number}"))
    if not records:
        raise InputError(f"data = {path!r}: is empty")
    return np.array(records)


def _record(line: list[str], label: float, width: int, places: dict[int, dict[str, int]], where: str) -> FloatArray:
    row, start = np.zeros(width + 1), len(LIMITS)
    for j, (position, limit) in enumerate(LIMITS.items()):
        try:
            value = float(line[position])
        except ValueError:
            raise InputError(f"{where}: cell {position + 1} must be a number") from None
        row[j] = min(max(value / limit, 0.0), 1.0)
    for position, words in places.items():
        place = words.get(line[position].strip())
        if place is not None:
            row[start + place] = 1.0
        start += len(words)
    row[-1] = label
    return row
