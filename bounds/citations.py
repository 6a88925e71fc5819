"""The five papers: who wrote them, where they appeared, and how much of each text we have.

Titles and authors are as on the papers' first pages, but for two facts: P4's author stands on its arXiv page, and P1's
appendix has "Sridhar Devadas" where the papers that cite it have Srinivas Devadas.  Venues and pages of P1 and P3 are
those that the other papers' reference lists give.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tailproof.refimpl.validation import InputError

__all__ = ["RECONSTRUCTED", "Citation", "citations", "cite", "papers"]

RECONSTRUCTED = (
    "Reconstructed: the text we have of this paper lacks the formula.  We restored it from the words, the proofs and the results "
    "it uses.  Check the paper before you quote it."
)


@dataclass(frozen=True)
class Citation:
    """One paper.  `completeness` says what is missing in the text that we worked from."""

    id: str  # "P0", as in the ids of statements and algorithms
    authors: tuple[str, ...]
    title: str
    year: int
    venue: str | None  # None: we know of none for certain
    identifier: str | None  # "arXiv:2408.09891"
    url: str | None
    complete: bool  # whether the text that we worked from is
    completeness: str
    note: str = ""

    @property
    def line(self) -> str:
        """The citation in one line."""
        *others, last = self.authors
        names = f"{', '.join(others)} and {last}" if others else last
        place = ", ".join(part for part in (self.venue, self.identifier) if part)
        year = "" if self.venue and str(self.year) in self.venue else f" ({self.year})"
        return f"{names}{year}. {self.title}. {place}."

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "authors": list(self.authors), "citation": self.line}


_PAPERS = (
    Citation(
        "P0",
        ("Difei Xu", "Meng Ding", "Zihang Xiang", "Jinhui Xu", "Di Wang"),
        "Beyond Ordinary Lipschitz Constraints: Differentially Private Stochastic Optimization with Tsybakov Noise Condition",
        2025,
        None,
        "arXiv:2509.04668",
        "https://arxiv.org/abs/2509.04668",
        True,
        "We have the whole text, extracted from the PDF by machine.",
        "Reviewed on OpenReview: https://openreview.net/forum?id=SZCyqcrGnq",
    ),
    Citation(
        "P1",
        ("Di Wang", "Hanshen Xiao", "Srinivas Devadas", "Jinhui Xu"),
        "On Differentially Private Stochastic Convex Optimization with Heavy-tailed Data",
        2020,
        "ICML 2020, pages 10081–10091",
        None,
        None,
        False,
        "We have the appendix only, so most statements are read off their proofs, and Theorems 1 and 3 are reconstructed.",
        "The appendix has the third author as Sridhar Devadas.",
    ),
    Citation(
        "P2",
        ("Puning Zhao", "Jiafei Wu", "Zhe Liu", "Chong Wang", "Rongfei Fan", "Qingming Li"),
        "Differential Private Stochastic Optimization with Heavy-tailed Data: Towards Optimal Rates",
        2024,
        None,
        "arXiv:2408.09891",
        "https://arxiv.org/abs/2408.09891",
        True,
        "We have the whole text, extracted from the PDF by machine.",
    ),
    Citation(
        "P3",
        ("Youming Tao", "Yulian Wu", "Xiuzhen Cheng", "Di Wang"),
        "Private Stochastic Convex Optimization and Sparse Learning with Heavy-tailed Data Revisited",
        2022,
        "IJCAI 2022, pages 3947–3953",
        None,
        None,
        True,
        "We have the whole text, extracted from the PDF by machine.",
    ),
    Citation(
        "P4",
        ("Andrew Lowy",),
        "Optimal Rates for Pure ε-Differentially Private Stochastic Convex Optimization with Heavy Tails",
        2026,
        None,
        "arXiv:2604.06492v1",
        "https://arxiv.org/abs/2604.06492v1",
        False,
        "We have the words without the formulas, so 78 of the paper's 83 statements are reconstructed.",
        "Version 1; the abstract of a later version differs.",
    ),
)


def citations() -> tuple[Citation, ...]:
    """The five papers, P0 to P4."""
    return _PAPERS


papers = citations  # its name in `import tailproof`


def cite(paper_id: str) -> str:
    """The citation of one paper in one line, without its id; `InputError` if there is no such paper."""
    for paper in _PAPERS:
        if paper.id == paper_id:
            return paper.line
    raise InputError(f"paper = {paper_id!r}: must be one of {', '.join(paper.id for paper in _PAPERS)}")
