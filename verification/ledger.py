"""The budget: do the spends of the releases that touch a record, composed, imply the claim?"""

from __future__ import annotations

import numpy as np

from tailproof.refimpl.channel import ledger, spends_of
from tailproof.refimpl.claims import implied
from tailproof.verification.pair_checks import Measurement
from tailproof.verification.subject import Subject


def check_ledger(subject: Subject, seed: int) -> Measurement:
    """The worst record's composition against the claim, in the claim's own unit: arithmetic on the recorded spends."""
    claim = subject.checked_claim
    assert claim is not None
    n, d = subject.setting.n, subject.setting.d
    _, transcript = subject.run(np.zeros((n, d)), seed)
    worst = Measurement(0.0, 1.0, "no release spends anything")
    for names, records in ledger(transcript, n).items():
        spends = spends_of(transcript, names)
        if not spends:
            continue
        spent, allowed = implied(spends, claim)
        found = Measurement(
            spent, allowed, f"releases that touch a record: {len(spends)} ({records} such records); claim {claim}"
        )
        worst = max(worst, found, key=lambda m: m.ratio)
    return worst
