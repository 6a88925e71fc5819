"""The groups of the atlas: which statements of the five papers speak of one problem, and how each is translated."""

from __future__ import annotations

from fractions import Fraction

from tailproof.bounds.grouping import Entry, Group, Plot

_HALF, _TWO = Fraction(1, 2), Fraction(2)
_K = tuple({"k": Fraction(value)} for value in (2, 4, 8))
_NORM = {"r": "1", "R2k": "1", "r2k": "1", "G": "1", "D": "1", "lam": "1", "beta": "1", "p": "1"}
_ROOT = {"r": "sqrt(d)", "R2k": "sqrt(d)", "r2k": "sqrt(d)", "G": "sqrt(d)", "D": "1", "lam": "1", "p": "1"} | {
    "beta": "sqrt(d)"
}
_SECOND = {"v": "1", "u": "1", "V": "1", "D": "1", "D0": "1", "R": "1", "mu": "1", "beta": "1", "tilde": "eps"}
_ZCDP_TO_APPROX = {"rho": "eps**2"}
_SCALES = ("scales", "the diameter, the moment bound, smoothness and growth constants are one")
_LOGS = ("logarithms", "dropped; δ is at most polynomially small and the failure probability constant")
_TO_APPROX = ("ρ-zCDP upper bound", "ρ = ε²/log(1/δ): such an algorithm is (O(ε), δ)-DP for ε ≤ log(1/δ)")
_PURE_TO_APPROX = ("ε-DP upper bound", "as it is: ε-DP is (ε, δ)-DP")
_PURE_TO_ZCDP = ("ε-DP upper bound", "ε = √ρ: ε-DP is ε²/2-zCDP")
_ZCDP_TO_PURE = ("ρ-zCDP lower bound", "ρ = ε²: ε-DP is ε²/2-zCDP")
_P_IS_K = ("moment order p of P2", "p = k")
_V_IS_ONE = ("moment order 1 + v of P3, second moments of P1", "v = 1: moments of order k ≥ 2 bound second moments")
_ENVELOPE = (
    "norm moments G of P0 and P4",
    "G = √d: E‖g‖^k ≤ d^{k/2}·max_j E|g_j|^k; the class asks that of sup_w‖∇f(w, x)‖, as those papers do",
)
_ORDER_2K = "moments of order 2k of the same size (R̃_{2k,n} = 1), which the class does not grant; p = 1"
_ORDER_K = "moments of order k alone: the theorem at order k/2, whose 2·(k/2)-th moments the class bounds; p = 1"
_EXPECTATION = "in expectation, hence with constant probability"
_SHUFFLED = "smooth losses; in expectation, hence with constant probability; privacy by shuffling needs ε ≤ √(log(n/δ)/n)"
_SMALL = ("eps<=1/sqrt(n)",)
_LIPSCHITZ_LOWER = "the instances are Lipschitz, hence in the class"
_LEMMA_15 = "as published: its proof rests on Lemma 15 of P3, which is false"
_AT_ORDER_TWO = "at k = 2 only: a lower bound for second moments says nothing about a class with more moments"
_ROOT_RHO = "ε = √ρ, as P0 sets the two side by side (P0.C9, P0.C22)"

_CONVEX_NORM = "Convex losses on a domain of diameter one, E sup_w ‖∇f(w, x)‖^k ≤ 1, k ≥ 2; excess population risk."
_CONVEX_DIRECTIONS = (
    "Convex smooth losses on a domain of diameter one, E|⟨u, ∇f(w, x)⟩|^k ≤ 1 for every unit u and every w, "
    "and E sup_w ‖∇f(w, x)‖^k ≤ d^{k/2}; excess population risk."
)
_CONVEX_COORDINATES = (
    "Convex smooth losses on a domain of diameter one, E|∂_j f(w, x)|^k ≤ 1 for every coordinate j and every w, "
    "and E sup_w ‖∇f(w, x)‖^k ≤ d^{k/2}; excess population risk."
)
_STRONG_COORDINATES = _CONVEX_COORDINATES.replace("Convex smooth losses", "Strongly convex smooth losses")
_STRONG_NORM = _CONVEX_NORM.replace("Convex losses", "Strongly convex smooth losses")
_TNC = (
    "Convex smooth losses on a domain of diameter one with growth of order θ (TNC): F(w) − F* ≥ dist(w, W*)^θ; "
    "E sup_w ‖∇f(w, x)‖^k ≤ 1, k ≥ 2; excess population risk."
)
_SPARSE = (
    "Restricted strongly convex smooth losses, minimiser with s non-zero coordinates, E|∂_j f(w, x)|^{1+v} ≤ u; excess risk."
)
_ZCDP_PLOT = Plot(_K, up="rho")
_TNC_PLOT = Plot(
    ({"k": _TWO, "theta": _TWO}, {"k": Fraction(4), "theta": _TWO}, {"k": Fraction(4), "theta": Fraction(4)}), up="eps"
)

CONVEX = (
    Group(
        id="convex-norm-approx",
        title="Convex, norm moments, (ε, δ)-DP",
        problem=_CONVEX_NORM,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=sqrt(d)"),
        dictionary=(
            _SCALES,
            _LOGS,
            _TO_APPROX,
            _PURE_TO_APPROX,
            ("directional moments M of P2", "M = 1, p = k: E|⟨u, g⟩|^k ≤ E‖g‖^k"),
            ("Lipschitz lower bound", "as it is: gradients bounded by one have all moments"),
            ("directional lower bound", "M = 1/√d, which divides the rate by √d: the norm's moment is then at most one"),
        ),
        entries=(
            Entry("P0.T1 P0.T10 P0.TAB1.r6.upper", _NORM, _ORDER_2K),
            Entry("P0.T1 P0.TAB1.r6.upper", _NORM | {"k": "k/2"}, _ORDER_K, reading="printed"),
            Entry("P0.S4.rate", {}, _ORDER_2K),
            Entry("P0.T6 P0.T6.box", _NORM, _SHUFFLED, where=_SMALL),
            Entry("P0.TAB1.r7.upper", _NORM, "smooth losses; " + _EXPECTATION),
            Entry("P4.INTRO.a P4.TAB.1", _NORM),
            Entry("P4.OURS.zcdp", _NORM | _ZCDP_TO_APPROX, _EXPECTATION),
            Entry("P4.T3.1 P4.OURS.high", _NORM),
            Entry("P2.T4 P2.O3", {"p": "k"}, "smooth losses"),
            Entry("P0.TAB1.r1.lower", {}, _LIPSCHITZ_LOWER),
            Entry("P2.T1", {"p": "k"}, "P2's Theorem 1, restored for directions", factor="1/sqrt(d)"),
        ),
        left_out=(
            ("P0.TAB1.r1.upper P2.T1.lipschitz P4.INTRO.b", "an upper bound for Lipschitz losses, a smaller class"),
            ("P0.TAB1.r6.lower P0.TAB1.r7.lower", "a lower bound for ρ-zCDP says nothing about (ε, δ)-DP"),
            ("P1.T8 P3.T6 P3.O3 P2.TAB1.r1 P2.TAB1.r2 P2.TAB1.r3", "made for coordinates; compared there"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="convex-directions-approx",
        title="Convex, directional moments, (ε, δ)-DP",
        problem=_CONVEX_DIRECTIONS,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=d"),
        dictionary=(_SCALES, _LOGS, _P_IS_K, _TO_APPROX, _PURE_TO_APPROX, _ENVELOPE),
        entries=(
            Entry(
                "P2.ABS P2.ABS.iterative P2.INTRO.simple P2.INTRO.iterative P2.TAB1.r4 P2.TAB1.r5 P2.CONCLUSION.simple "
                "P2.CONCLUSION.iterative P2.T4 P2.O3 P2.O4",
                {"p": "k"},
            ),
            Entry(
                "P2.T7",
                {"p": "k", "T": "n"},
                "T, a power of n, stands in logarithms only; where its conditions n ≥ d log n and T ≥ 1 fail its rate is above one",
                without=("n>=d*log(n)", "(n*eps/sqrt(d))**(2-2/p)>=d"),
            ),
            Entry("P2.TAB1.r2", {"p": "k"}, "coordinate moments: a larger class"),
            Entry("P0.T6", _ROOT, _SHUFFLED, where=_SMALL),
            Entry("P4.OURS.zcdp", _ROOT | _ZCDP_TO_APPROX, _EXPECTATION),
            Entry("P4.T3.1 P4.OURS.bound", _ROOT),
            Entry("P2.T1", {"p": "k"}),
            Entry("P2.TAB1.r6 P2.INTRO.lower", {"p": "k"}, "as published, for a class where it is false", reading="printed"),
            Entry("P0.TAB1.r1.lower", {}, _LIPSCHITZ_LOWER),
        ),
        left_out=(
            ("P2.T1.limit", "the limit p → ∞ is a statement about another class"),
            ("P2.T1.lipschitz", "an upper bound for Lipschitz losses, a smaller class"),
            ("P0.T1 P0.TAB1.r6.upper", "needs moments of order 2k; compared under norm moments"),
            ("P0.TAB1.r3.lower", "for moments along basis vectors, a larger class, and for ρ-zCDP"),
            ("P1.T8 P3.T6 P2.TAB1.r1 P2.TAB1.r3", "made for coordinates, a larger class; compared there"),
            ("P2.E71 P2.E72", "the two halves of Theorem 4, for ρ-zCDP"),
            ("P2.E69 P2.O4.bound P2.L3", "at any choice of its parameters: a step, not a rate in n, d and ε"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="convex-coordinates-approx",
        title="Convex, coordinate moments, (ε, δ)-DP",
        problem=_CONVEX_COORDINATES,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=d"),
        dictionary=(
            _SCALES,
            _LOGS,
            _TO_APPROX,
            _PURE_TO_APPROX,
            _ENVELOPE,
            _V_IS_ONE,
            ("directional moments M of P2", "M = √d, by homogeneity √d times the rate: E|⟨u, g⟩|^k ≤ E‖g‖^k ≤ d^{k/2}"),
            ("directional lower bound", "as it is: directions bound coordinates"),
            ("lower bound for second moments", _AT_ORDER_TWO),
        ),
        entries=(
            Entry("P0.TAB1.r3.upper P2.TAB1.r2 P2.TAB1.r3", {"p": "k"}),
            Entry("P2.TAB1.r1", {}),
            Entry("P1.T8", _SECOND),
            Entry("P3.T6 P3.INTRO.c P3.T6.combined P3.O3 P3.S5.v1.convex", _SECOND),
            Entry("P0.T6", _ROOT, _SHUFFLED, where=_SMALL),
            Entry("P4.OURS.zcdp", _ROOT | _ZCDP_TO_APPROX, _EXPECTATION),
            Entry("P4.T3.1 P4.OURS.bound", _ROOT),
            Entry("P2.T4 P2.O3", {"p": "k"}, factor="sqrt(d)"),
            Entry("P2.T1", {"p": "k"}),
            Entry("P3.T9.approx", _SECOND, _LEMMA_15, where=("k<=2",)),
        ),
        left_out=(
            ("P0.TAB1.r3.lower", "a lower bound for ρ-zCDP says nothing about (ε, δ)-DP; compared there"),
            ("P3.T9", "a lower bound for ε-DP says nothing about (ε, δ)-DP; compared there"),
            ("P1.T5", "sub-exponential coordinates, a smaller class; and strongly convex"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="convex-coordinates-zcdp",
        title="Convex, coordinate moments, ρ-zCDP",
        problem=_CONVEX_COORDINATES,
        privacy="ρ-zCDP",
        language=("n", "d", "rho", "k"),
        where=("k>=2", "rho<=1", "n*sqrt(rho)>=d"),
        dictionary=(
            _SCALES,
            _LOGS,
            _PURE_TO_ZCDP,
            _ENVELOPE,
            ("Kamath et al. in P0's Table 1", _ROOT_RHO),
            ("directional moments M of P2", "M = √d, by homogeneity √d times the rate"),
        ),
        entries=(
            Entry("P0.TAB1.r3.upper", {"eps": "sqrt(rho)"}, _ROOT_RHO),
            Entry("P4.OURS.zcdp", _ROOT, _EXPECTATION),
            Entry("P4.OURS.bound P4.T3.1", _ROOT | {"eps": "sqrt(rho)"}),
            Entry("P2.E71 P2.E72", {"p": "k"}, factor="sqrt(d)"),
            Entry("P0.TAB1.r3.lower", {}),
        ),
        plot=_ZCDP_PLOT,
    ),
    Group(
        id="convex-norm-zcdp",
        title="Convex, norm moments, ρ-zCDP",
        problem=_CONVEX_NORM,
        privacy="ρ-zCDP",
        language=("n", "d", "rho", "k"),
        where=("k>=2", "rho<=1", "n*sqrt(rho)>=sqrt(d)"),
        dictionary=(_SCALES, _LOGS, _PURE_TO_ZCDP, ("Lowy and Razaviyayn in P0's Table 1", _ROOT_RHO)),
        entries=(
            Entry("P4.OURS.zcdp", _NORM, _EXPECTATION),
            Entry("P4.OURS.bound P4.T3.1", _NORM | {"eps": "sqrt(rho)"}, where=("n*sqrt(rho)>=d",)),
            Entry("P0.TAB1.r6.upper", _NORM | {"eps": "sqrt(rho)"}, f"{_ROOT_RHO}; {_ORDER_2K}"),
            Entry("P0.TAB1.r7.upper", _NORM | {"eps": "sqrt(rho)"}, f"{_ROOT_RHO}; smooth losses"),
            Entry("P0.TAB1.r6.lower P0.TAB1.r7.lower", _NORM),
        ),
        left_out=(("P0.T6", "stated for (ε, δ)-DP by shuffling, which gives no ρ-zCDP"),),
        plot=_ZCDP_PLOT,
    ),
    Group(
        id="convex-norm-pure",
        title="Convex, norm moments, ε-DP",
        problem=_CONVEX_NORM,
        privacy="ε-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=d", "n*eps>=d"),
        dictionary=(_SCALES, _LOGS, _ZCDP_TO_PURE, ("(ε, δ)-DP lower bound", "as it is: ε-DP is (ε, δ)-DP")),
        entries=(
            Entry(
                "P4.ABS P4.EQ4 P4.TAB.2 P4.TAB.3 P4.TAB.4 P4.T3.1 P4.TD.2 P4.TD.4 P4.COR.D7 P4.TE.2 P4.TE.5 P4.TF.6 P4.CONCL "
                "P4.R.G7 P4.OURS.bound P4.OURS.high P4.S4.trivial",
                _NORM,
            ),
            Entry("P4.INTRO.c P4.TAB.5 P4.T4.1 P4.TG.6 P4.TG.6.first", _NORM),
            Entry("P0.TAB1.r6.lower", _NORM | {"rho": "eps**2"}, reading="derived"),
            Entry("P0.TAB1.r1.lower", {}, _LIPSCHITZ_LOWER),
        ),
        left_out=(
            ("P4.INTRO.b", "an upper bound for Lipschitz losses, a smaller class"),
            ("P4.TE.5.width P4.T2.1", "at any choice of its parameters: a step, not a rate in n, d and ε"),
            (
                "P4.P2.5 P4.PC.3 P4.P3.2 P4.PD.1 P4.TE.1 P4.PE.4 P4.PF.5 P4.OURS.single P4.OURS.distance",
                "a distance from a regularised minimiser, not an excess risk",
            ),
            ("P4.OURS.phase P4.OURS.phase.steps P4.OURS.phases", "a step of the bound P4.OURS.bound"),
            ("P4.T3.1.optimal", "a factor, not a rate"),
            ("P4.OURS.objective P4.OURS.objective.sum", "an upper bound for generalised linear losses, a smaller class"),
            ("P4.OURS.moment P4.OURS.moment.scale", "of a private moment bound, not of an excess risk"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="convex-norm-pure-logs",
        title="Convex, norm moments, ε-DP, logarithms kept",
        problem=_CONVEX_NORM + "  With probability 1 − ξ.",
        privacy="ε-DP",
        language=("n", "d", "eps", "xi", "k"),
        where=("k>=2", "eps<=d", "n*eps>=d*log(1/xi)", "n>=log(1/xi)"),
        dictionary=(_SCALES, ("logarithms", "kept: none of these statements hides one, but for TE.2, TE.5")),
        entries=(
            Entry("P4.T3.1 P4.TD.2 P4.TD.4 P4.COR.D7 P4.TAB.3 P4.TAB.4 P4.TF.6 P4.OURS.high P4.CONCL P4.R.G7", _NORM),
            Entry("P4.TE.2 P4.TE.5 P4.TAB.2", _NORM, "log n stands for the logarithm of a polynomial in all parameters"),
            Entry("P4.T4.1 P4.TG.6 P4.TAB.5", _NORM),
            Entry("P4.INTRO.c", _NORM, "in expectation; read with constant probability"),
        ),
        left_out=(("P4.OURS.bound P4.EQ4 P4.ABS", "in expectation: at probability 1 − ξ Markov's inequality costs 1/ξ"),),
        logs=True,
    ),
    Group(
        id="convex-coordinates-pure",
        title="Convex, coordinate moments, ε-DP",
        problem=_CONVEX_COORDINATES,
        privacy="ε-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=d"),
        dictionary=(_SCALES, _LOGS, _ENVELOPE, ("lower bound for second moments", _AT_ORDER_TWO), _ZCDP_TO_PURE),
        entries=(
            Entry("P4.T3.1 P4.OURS.bound P4.S4.trivial", _ROOT),
            Entry("P3.T9", _SECOND, _AT_ORDER_TWO, where=("k<=2",)),
            Entry("P3.T9.approx", _SECOND, f"{_LEMMA_15}; {_AT_ORDER_TWO}", where=("k<=2",)),
            Entry("P0.TAB1.r3.lower", {"rho": "eps**2"}),
            Entry("P4.T4.1", _NORM, "norm moments: a smaller class"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="convex-low-approx",
        title="Convex, coordinate moments of order 1 + v ≤ 2, (ε, δ)-DP",
        problem=_CONVEX_COORDINATES.replace("^k ≤ 1", "^{1+v} ≤ u").replace(", and E sup_w ‖∇f(w, x)‖^k ≤ d^{k/2}", ""),
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=d"),
        dictionary=(_SCALES, _LOGS, ("moments u of order 1 + v", "kept, as in P3")),
        entries=(
            Entry("P3.T6 P3.O3", {"D": "1", "R": "1"}),
            Entry("P3.INTRO.c", {}, "stated without u", where=("u==1",)),
            Entry("P3.T6.combined", {"D": "1", "R": "1"}, "stated without u", where=("u==1",)),
            Entry("P3.T9.approx", {}, _LEMMA_15),
        ),
        left_out=(
            ("P3.T9", "a lower bound for ε-DP says nothing about (ε, δ)-DP"),
            ("P3.S5.gap8 P3.S5.gap9", "a quotient of two rates, not a rate"),
            ("P0.T6 P4.OURS.zcdp P2.T4", "needs moments of order 2 at least"),
        ),
        plot=Plot(tuple({"v": value} for value in (Fraction(1, 4), _HALF, Fraction(1))), fixed={"u": Fraction(0)}),
    ),
    Group(
        id="convex-lipschitz-approx",
        title="Convex, Lipschitz constant one, (ε, δ)-DP",
        problem="Convex losses, each Lipschitz with constant one, on a domain of diameter one; excess population risk.",
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=sqrt(d)"),
        dictionary=(
            _SCALES,
            _LOGS,
            _PURE_TO_APPROX,
            _TO_APPROX,
            ("norm moments G of P0 and P4", "G = 1 for every k: a Lipschitz loss has all moments"),
        ),
        entries=(
            Entry("P0.TAB1.r1.upper P2.T1.lipschitz", {}),
            Entry("P4.INTRO.b", {"L": "1", "D": "1"}),
            Entry("P4.OURS.zcdp", _NORM | _ZCDP_TO_APPROX, "any k"),
            Entry("P0.TAB1.r1.lower", {}),
        ),
        plot=Plot(_K),
    ),
)

STRONG = (
    Group(
        id="strong-norm-approx",
        title="Strongly convex, norm moments, (ε, δ)-DP",
        problem=_STRONG_NORM,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=sqrt(d)"),
        dictionary=(
            _SCALES,
            _LOGS,
            _TO_APPROX,
            ("TNC upper bound", "θ = 2: strong convexity is growth of order 2"),
            ("convex upper bound", "as it is: strong convexity is not used"),
            ("Lipschitz lower bound", "as it is: a smaller class"),
        ),
        entries=(
            Entry("P0.T2 P0.T3 P0.T11 P0.TAB1.r9.upper", _NORM | {"theta": "2"}, _ORDER_2K),
            Entry("P0.TAB1.r8.upper P0.R3.strong", _NORM, _ORDER_2K),
            Entry("P0.T2 P0.TAB1.r8.upper", _NORM | {"theta": "2", "k": "k/2"}, _ORDER_K, reading="printed"),
            Entry("P0.T7 P0.TAB1.r10.upper", _NORM | {"theta": "2"}, _SHUFFLED, where=_SMALL),
            Entry("P4.OURS.zcdp", _NORM | _ZCDP_TO_APPROX, "strong convexity is not used"),
            Entry("P0.TAB1.r2.lower", {}, _LIPSCHITZ_LOWER),
        ),
        left_out=(
            ("P0.TAB1.r2.upper", "an upper bound for Lipschitz losses, a smaller class"),
            ("P0.TAB1.r8.lower", "a lower bound for ρ-zCDP says nothing about (ε, δ)-DP"),
            ("P0.EX2", "one loss, not a class"),
            ("P1.T2", "in terms of the least risk, which no moment bounds"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="strong-coordinates-approx",
        title="Strongly convex, coordinate moments, (ε, δ)-DP",
        problem=_STRONG_COORDINATES,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "sqrt(d)*(sqrt(d)/(n*eps))**(1-1/k)<=1"),
        dictionary=(_SCALES, _LOGS, _ENVELOPE, _V_IS_ONE, ("lower bound for second moments", _AT_ORDER_TWO)),
        entries=(
            Entry("P0.TAB1.r4.upper", {}),
            Entry("P1.T7", _SECOND),
            Entry("P3.T7 P3.T7.tau P3.INTRO.b P3.S5.v1.strong", _SECOND),
            Entry("P0.T2", _ROOT | {"theta": "2"}, f"{_ORDER_2K}; here of size √d"),
            Entry("P0.T7", _ROOT | {"theta": "2"}, _SHUFFLED, where=_SMALL),
            Entry("P4.OURS.zcdp", _ROOT | _ZCDP_TO_APPROX, "strong convexity is not used"),
            Entry("P3.T8.approx", _SECOND, f"{_LEMMA_15}; {_AT_ORDER_TWO}", where=("k<=2",)),
        ),
        left_out=(
            ("P0.TAB1.r4.lower P3.T8.zcdp", "a lower bound for ρ-zCDP says nothing about (ε, δ)-DP"),
            ("P3.T8", "a lower bound for ε-DP says nothing about (ε, δ)-DP"),
            ("P1.T5", "sub-exponential coordinates, a smaller class"),
            ("P1.T2 P1.T2.distance P1.T5.distance", "in other quantities: the least risk, or a distance"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="strong-zcdp",
        title="Strongly convex, ρ-zCDP: norm moments",
        problem=_STRONG_NORM,
        privacy="ρ-zCDP",
        language=("n", "d", "rho", "k"),
        where=("k>=2", "rho<=1", "n*sqrt(rho)>=sqrt(d)"),
        dictionary=(
            _SCALES,
            _LOGS,
            ("TNC bounds", "θ = 2; the lower bounds' instances at θ = 2 are quadratics"),
            ("Lowy and Razaviyayn in P0's Table 1", _ROOT_RHO),
        ),
        entries=(
            Entry("P0.R5", _NORM | {"theta": "2"}, _ORDER_2K),
            Entry("P0.TAB1.r8.upper", _NORM | {"eps": "sqrt(rho)"}, f"{_ROOT_RHO}; {_ORDER_2K}"),
            Entry("P4.OURS.zcdp", _NORM, "strong convexity is not used"),
            Entry("P0.TAB1.r8.lower", _NORM),
            Entry("P0.T4 P0.T5 P0.R5.optimal", _NORM | {"theta": "2"}),
        ),
        plot=_ZCDP_PLOT,
    ),
    Group(
        id="strong-coordinates-zcdp",
        title="Strongly convex, ρ-zCDP: coordinate moments",
        problem=_STRONG_COORDINATES,
        privacy="ρ-zCDP",
        language=("n", "d", "rho", "k"),
        where=("k>=2", "rho<=1", "sqrt(d)*(sqrt(d)/(n*sqrt(rho)))**(1-1/k)<=1"),
        dictionary=(
            _SCALES,
            _LOGS,
            _ENVELOPE,
            ("Kamath et al. in P0's Table 1", _ROOT_RHO),
            ("lower bound for second moments", _AT_ORDER_TWO),
        ),
        entries=(
            Entry("P0.TAB1.r4.upper", {"eps": "sqrt(rho)"}, _ROOT_RHO),
            Entry("P0.R5", _ROOT | {"theta": "2"}, f"{_ORDER_2K}; here of size √d"),
            Entry("P4.OURS.zcdp", _ROOT, "strong convexity is not used"),
            Entry("P0.TAB1.r4.lower", {}),
            Entry("P3.T8.zcdp", _SECOND, _AT_ORDER_TWO, where=("k<=2",)),
        ),
        plot=_ZCDP_PLOT,
    ),
    Group(
        id="strong-low-approx",
        title="Strongly convex, coordinate moments of order 1 + v ≤ 2, (ε, δ)-DP",
        problem=_STRONG_COORDINATES.replace("^k ≤ 1", "^{1+v} ≤ u").replace(", and E sup_w ‖∇f(w, x)‖^k ≤ d^{k/2}", ""),
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=d"),
        dictionary=(
            _SCALES,
            _LOGS,
            ("moments u of order 1 + v", "kept, as in P3; stated without u in the introduction: u = 1"),
        ),
        entries=(
            Entry("P3.T7 P3.T7.tau", {"D": "1", "mu": "1", "beta": "1"}),
            Entry("P3.INTRO.b", {}, "stated without u", where=("u==1",)),
            Entry("P3.T8.approx", {}, _LEMMA_15),
        ),
        left_out=(("P3.T8", "a lower bound for ε-DP says nothing about (ε, δ)-DP"),),
        plot=Plot(tuple({"v": value} for value in (Fraction(1, 4), _HALF, Fraction(1))), fixed={"u": Fraction(0)}),
    ),
)

GROWTH = (
    Group(
        id="tnc-approx",
        title="Growth of order θ (TNC), (ε, δ)-DP",
        problem=_TNC,
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k", "theta"),
        where=("k>=2", "theta>1", "eps<=1", "n*eps>=sqrt(d)"),
        dictionary=(
            _SCALES,
            _LOGS,
            _TO_APPROX,
            ("R̃_{2k,n} and r̃_{2k} of P0", "one: moments of order 2k of the same size, where `assumes` says so"),
            ("Lipschitz lower bound", "as it is: a smaller class"),
            ("convex upper bound", "as it is: the growth is not used"),
        ),
        entries=(
            Entry("P0.T2 P0.T11 P0.T3 P0.TAB1.r9.upper P0.ABS P0.INTRO.a", _NORM, _ORDER_2K),
            Entry("P0.T3", _NORM | {"k": "k/2"}, _ORDER_K, reading="printed"),
            Entry("P0.T7 P0.TAB1.r10.upper P0.ABS.shuffled P0.INTRO.b", _NORM, _SHUFFLED, where=_SMALL),
            Entry("P4.OURS.zcdp", _NORM | _ZCDP_TO_APPROX, "the growth is not used"),
            Entry("P0.TAB1.r5.lower", {}, _LIPSCHITZ_LOWER),
            Entry(
                "P0.TAB1.r9.lower P0.TAB1.r10.lower",
                _NORM,
                "as published, for (ε, δ)-DP; proved for ρ-zCDP",
                reading="printed",
            ),
        ),
        left_out=(
            ("P0.TAB1.r5.upper P0.R3", "an upper bound for Lipschitz losses, a smaller class"),
            ("P0.T4 P0.ABS.lower P0.INTRO.c P0.R5 P0.R5.optimal", "for ρ-zCDP; compared there"),
            ("P0.EX1 P0.EX2", "one loss, not a class"),
            ("P0.T11.case1 P0.T11.case2 P0.T4.separation P0.T5.separation", "a step of a proof"),
        ),
        plot=_TNC_PLOT,
    ),
    Group(
        id="tnc-zcdp",
        title="Growth of order θ (TNC), ρ-zCDP",
        problem=_TNC,
        privacy="ρ-zCDP",
        language=("n", "d", "rho", "k", "theta"),
        where=("k>=2", "theta>=2", "rho<=1", "n*sqrt(rho)>=sqrt(d)"),
        dictionary=(_SCALES, _LOGS, ("convex upper bound", "as it is: the growth is not used")),
        entries=(
            Entry("P0.R5", _NORM, _ORDER_2K),
            Entry("P4.OURS.zcdp", _NORM, "the growth is not used"),
            Entry("P0.ABS.lower P0.INTRO.c P0.T4 P0.T5 P0.R5.optimal", _NORM),
            Entry("P0.TAB1.r9.lower P0.TAB1.r10.lower", _NORM, "as its proof gives it", reading="derived"),
        ),
        plot=Plot(_TNC_PLOT.values, up="rho"),
    ),
    Group(
        id="tnc-plain",
        title="Growth of order θ (TNC), no privacy",
        problem=_TNC,
        privacy="none",
        language=("n", "theta"),
        where=("theta>1",),
        dictionary=(_SCALES,),
        entries=(Entry("P0.S2.plain", {}), Entry("P0.T5", {"r": "1"}, without=("k>=2",))),
    ),
)

MEANS = (
    Group(
        id="mean-line-approx",
        title="Mean on the line, moments of order 1 + v ≤ 2, (ε, δ)-DP",
        problem="Mean of records on the line with E|x|^{1+v} ≤ u; absolute error.",
        privacy="(ε, δ)-DP",
        language=("n", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=1"),
        dictionary=(_LOGS, _PURE_TO_APPROX, ("stated without u", "u = 1: compared there only")),
        entries=(
            Entry("P3.ABS.a P3.T1 P3.R1.optimal", {}),
            Entry("P3.O1", {}, "ε-DP"),
            Entry("P3.INTRO.a", {}, "stated without u", where=("u==1",)),
            Entry("P3.R1", {}, "at v = u = 1", where=("u==1", "v>=1")),
            Entry("P3.T2", {}, "δ ≤ ε", without=("delta<=eps",)),
            Entry("P3.T2.v1", {}, "at v = u = 1; δ ≤ ε", where=("u==1", "v>=1"), without=("delta<=eps",)),
        ),
        left_out=(("P3.T1.at P3.O1.at P3.L16", "at any choice of its parameters: a step, not a rate in n and ε"),),
    ),
    Group(
        id="mean-line-pure",
        title="Mean on the line, moments of order 1 + v ≤ 2, ε-DP",
        problem="Mean of records on the line with E|x|^{1+v} ≤ u; absolute error.",
        privacy="ε-DP",
        language=("n", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=1"),
        dictionary=(_LOGS, ("(ε, δ)-DP lower bound", "as it is: ε-DP is (ε, δ)-DP")),
        entries=(Entry("P3.O1", {}), Entry("P3.T2.pure", {}), Entry("P3.T2", {}, without=("delta<=eps",))),
        left_out=(("P3.T1", "an (ε, δ)-DP estimator need not be ε-DP"),),
    ),
    Group(
        id="mean-coordinates-approx",
        title="Mean, coordinate moments of order 1 + v ≤ 2, (ε, δ)-DP",
        problem="Mean of records in d dimensions with E|x_j|^{1+v} ≤ u for every j; squared Euclidean error.",
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=d"),
        dictionary=(_LOGS, _PURE_TO_APPROX, ("a bound of the error", "squared"), ("free parameter τ", "as in Corollary 1")),
        entries=(
            Entry("P3.COR1", {}, power="2"),
            Entry("P3.T3", {"tau": "(u*eps*n/sqrt(d))**(1/(1+v))"}, "τ as in Corollary 1", power="2"),
            Entry("P3.O2", {}, "ε-DP"),
            Entry("P3.L21.approx", {}, _LEMMA_15),
        ),
        left_out=(
            ("P3.L21 P3.L21.square", "a lower bound for ε-DP says nothing about (ε, δ)-DP; compared there"),
            (
                "P3.T3.at P3.T3.square P3.T3.mean P3.T3.batch P3.T3.sampling P3.O2.at",
                "at any choice of its parameters: a step",
            ),
        ),
        plot=Plot(tuple({"v": value} for value in (Fraction(1, 4), _HALF, Fraction(1))), fixed={"u": Fraction(0)}),
    ),
    Group(
        id="mean-coordinates-pure",
        title="Mean, coordinate moments of order 1 + v ≤ 2, ε-DP",
        problem="Mean of records in d dimensions with E|x_j|^{1+v} ≤ u for every j; squared Euclidean error.",
        privacy="ε-DP",
        language=("n", "d", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "n*eps>=d"),
        dictionary=(_LOGS, ("a bound of the error", "squared"), ("(ε, δ)-DP lower bound", "as it is")),
        entries=(
            Entry("P3.O2", {}),
            Entry("P3.L21", {}, power="2"),
            Entry("P3.L21.square", {}),
            Entry("P3.L21.approx", {}, _LEMMA_15),
        ),
        left_out=(
            ("P3.COR1 P3.T3", "an (ε, δ)-DP estimator need not be ε-DP"),
            ("P3.L21.packing P3.L21.packing2", "a step of a proof"),
        ),
    ),
    Group(
        id="mean-norm-pure",
        title="Mean, norm moments of order k ≥ 2, ε-DP",
        problem="Mean of records in d dimensions with E‖x‖^k ≤ 1; squared Euclidean error.",
        privacy="ε-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=d"),
        dictionary=(_SCALES, _LOGS, _V_IS_ONE),
        entries=(
            Entry("P3.O2", _SECOND, "coordinate moments: a larger class"),
            Entry("P4.PG.2 P4.PG.4 P4.TG.5", _NORM),
        ),
        left_out=(("P4.T4.1 P4.TG.6", "an excess risk, not a squared error"),),
        plot=Plot(_K),
    ),
    Group(
        id="mean-directions-approx",
        title="Mean, directional moments of order k ≥ 2, (ε, δ)-DP",
        problem="Mean of records in d dimensions with E|⟨u, x⟩|^k ≤ 1 for every unit u; squared Euclidean error.",
        privacy="(ε, δ)-DP",
        language=("n", "d", "eps", "k"),
        where=("k>=2", "eps<=1", "n*eps>=d"),
        dictionary=(
            _SCALES,
            _LOGS,
            _P_IS_K,
            _TO_APPROX,
            _V_IS_ONE,
            _PURE_TO_APPROX,
            (
                "free parameter R",
                "√d(nε/√d)^{1/k}, which balances noise and bias; in P2.T2 at most √d(n/d)^{1/k}, for its tail",
            ),
            ("a bound of the error", "squared"),
            ("lower bound on the line", "as it is at k = 2: one coordinate of d"),
        ),
        entries=(
            Entry("P2.T2", {"p": "k", "M": "1", "R": "sqrt(d)*Min(n/d, n*eps/sqrt(d))**(1/k)"} | _ZCDP_TO_APPROX, power="2"),
            Entry("P2.IDEAL", {"p": "k", "R": "sqrt(d)*(n*eps/sqrt(d))**(1/k)"} | _ZCDP_TO_APPROX, power="2"),
            Entry(
                "P2.T5",
                {"p": "k", "R": "sqrt(d)*(n*eps/sqrt(d))**(1/k)"},
                "privacy as published, which is unproved",
                power="2",
            ),
            Entry(
                "P3.COR1 P3.T3", _SECOND | {"tau": "(eps*n/sqrt(d))**(1/2)"}, "coordinate moments: a larger class", power="2"
            ),
            Entry("P3.O2", _SECOND, "ε-DP; coordinate moments: a larger class"),
            Entry("P3.T2", _SECOND, f"δ ≤ ε; {_AT_ORDER_TWO}", power="2", where=("k<=2",), without=("delta<=eps",)),
        ),
        left_out=(
            ("P2.MOM P2.SUBGAUSSIAN P2.T5.limit", "without privacy"),
            ("P2.E31 P2.E33 P2.T2.tail", "at any choice of its parameters: a step"),
        ),
        plot=Plot(_K),
    ),
    Group(
        id="mean-plain",
        title="Mean, second moments, no privacy",
        problem="Mean of records in d dimensions with E⟨u, x⟩² ≤ 1 for every unit u; Euclidean error with probability 1 − ξ.",
        privacy="none",
        language=("n", "d", "xi"),
        where=("n>=d*log(1/xi)",),
        dictionary=(("logarithms", "kept"), ("squared error", "its root"), ("moment bound G of P4", "one: on one axis")),
        entries=(
            Entry("P2.MOM P2.SUBGAUSSIAN P2.T5.limit", {}),
            Entry("P4.PG.2", {"G": "1"}, power="1/2"),
        ),
        logs=True,
    ),
)

SPARSE = (
    Group(
        id="sparse-approx",
        title="Sparse, coordinate moments of order 1 + v ≤ 2, (ε, δ)-DP",
        problem=_SPARSE,
        privacy="(ε, δ)-DP",
        language=("n", "d", "s", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "s>=1", "d>=2*s", "n*eps>=s"),
        dictionary=(("logarithms", "dropped, of d too"), ("stated without u", "u = 1: compared there only")),
        entries=(
            Entry("P3.T10 P3.R3", {}),
            Entry("P3.INTRO.d", {}, "stated without u", where=("u==1",)),
            Entry("P3.R3.v1", {}, "at v = 1", where=("v>=1",)),
            Entry("P3.T11.approx", {}, _LEMMA_15),
            Entry("P3.L27.approx", {}, f"{_LEMMA_15}; the sparse mean, one of the losses"),
        ),
        left_out=(
            ("P3.T11 P3.O4 P3.L27", "a lower bound for ε-DP says nothing about (ε, δ)-DP"),
            ("P3.O5", "a lower bound for ρ-zCDP says nothing about (ε, δ)-DP"),
            ("P3.T10.at", "at any choice of its parameters: a step"),
        ),
    ),
    Group(
        id="sparse-pure",
        title="Sparse, coordinate moments of order 1 + v ≤ 2, ε-DP: lower bounds",
        problem=_SPARSE,
        privacy="ε-DP",
        language=("n", "d", "s", "eps", "u", "v"),
        where=("0<v", "v<=1", "eps<=1", "s>=1", "d>=2*s", "n*eps>=s"),
        dictionary=(
            ("logarithms", "dropped, of d too"),
            ("(ε, δ)-DP lower bound", "as it is: ε-DP is (ε, δ)-DP"),
            _ZCDP_TO_PURE,
        ),
        entries=(
            Entry("P3.T11 P3.O4 P3.L27", {}),
            Entry("P3.T11.approx", {}, _LEMMA_15),
            Entry("P3.O5", {"rho": "eps**2"}),
        ),
        left_out=(
            ("P3.T10", "an (ε, δ)-DP algorithm need not be ε-DP"),
            ("P3.O4.packing P3.L27.packing", "a step of a proof"),
        ),
    ),
)

GROUPS: tuple[Group, ...] = (*CONVEX, *STRONG, *GROWTH, *MEANS, *SPARSE)
