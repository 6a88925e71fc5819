"""The papers' parameter choices that are minimisations: the rate before the choice, the choice, and whether it is best.

Where the parameters of a theorem are chosen together they are minimised together.  Choices that privacy or a failure probability
forces (the number of groups log(1/ξ), the share of the budget of a step) are not minimisations and are not here.
"""

from __future__ import annotations

from tailproof.bounds.papers import p0, p2, p3
from tailproof.bounds.statements import Choice

_K, _P, _V = ("k>=2",), ("p>=2",), ("0<v", "v<=1", "eps<=1")

_P0 = (
    Choice(
        "P0.T10",
        f"C*{p0.TAU_LOG} + R2k**k*C**(1-k)",
        {"C": f"R2k*(1/({p0.TAU_LOG}))**(1/k)"},
        _K,
        note="The clipping threshold: the noise's length and the bias of a phase, both times the same factor.",
    ),
    Choice(
        "P0.T1",
        p0.STEPS,
        {"eta": p0.PACE},
        ("p>=1", "b<=1"),
        attained=False,
        note="At the best η the three parts are D/n^p·(L_f + R̃n^{p/2}b + L_fn^{p/2−1/4}√(log n·√log(1/β))).  Algorithm 4's minimum "
        "keeps D²/(ηn^{2p}) small and lets the last part of the sum be of order D: it is not the η that minimises its own bound.",
    ),
    Choice(
        "P0.T6.box",
        "beta*D**2/T**2 + D*(sqrt(d)*C*sqrt(T*log(1/delta))/(n*eps) + r*sqrt(T/n) + r**k/C**(k-1))/sqrt(T) + D*r**k/C**(k-1)",
        {"C": p0.CLIP, "T": p0.ROUNDS},
        ("k>=2", "r<=beta*D", "sqrt(d*log(1/delta))<=eps*n"),
        note="C and T together: more rounds than T do not help either.",
    ),
    Choice(
        "P0.T6",
        "beta*D**2/T**2 + D*(sqrt(d)*C*sqrt(T*log(1/delta)*log(n/delta))/(n*eps) + r*sqrt(T/n) + r**k/C**(k-1))/sqrt(T)"
        " + D*r**k/C**(k-1)",
        {"C": p0.CLIP, "T": p0.ROUNDS},
        ("k>=2", "r<=beta*D", "sqrt(d*log(1/delta))<=eps*n", "delta<=1/n"),
        attained=False,
        excess="log(1/delta)",
        note="C balances the noise without its factor √log(n/δ), which the best C has to the power (k−1)/k only.",
    ),
)

_P1 = (
    Choice(
        "P1.E17",
        "beta*D0**2/T + D0*beta*d*sqrt(V*T*log(n*D/xi))/(sqrt(n)*tilde)",
        {"T": "(D0*sqrt(n)*tilde/(d*sqrt(V*log(n*D/xi))))**(2/3)"},
        note="T = βD₀/χ makes the two equal; χ grows with √T.",
    ),
)

_P2 = (
    Choice(
        "P2.E69",
        "1/(eta*T) + B + eta*(1 + B**2 + R**2*T*d/(rho*n**2))",
        {"eta": "1/sqrt(T)", "T": "rho*n**2/(d*R**2)"},
        ("B<=1",),
        note="η and T together, for every R and every bias B ≤ 1 (above that the bound says nothing); more steps do not help.",
    ),
    Choice(
        "P2.T4",
        p2._E69,
        {"R": "sqrt(d)*Min((n*sqrt(rho)/sqrt(d))**(1/p), (n/d)**(1/p))"},
        _P,
        attained=False,
        excess="log(n)",
        note="The best R = √d·min{(n√ρ/√d)^{1/p}, (n/(d log n))^{1/p}} has log(n)^{1−1/p} in the last term.",
    ),
    Choice(
        "P2.E71",
        p2._E69,
        {"R": "sqrt(d)*(n/d)**(1/p)"},
        ("p>=2", "rho>=1/d", "rho<=1", "n>=d"),
        logs=False,
        note="Without logarithms the best for ρ ≥ 1/d.",
    ),
    Choice(
        "P2.E72",
        p2._E69,
        {"R": "sqrt(d)*(n*sqrt(rho)/sqrt(d))**(1/p)"},
        ("p>=2", "rho<=1/d"),
        logs=False,
        note="Without logarithms the best for ρ ≤ 1/d.",
    ),
    Choice(
        "P2.T7",
        "R*sqrt(d)/(n*eps) + sqrt(d/n) + d**(p/2)*R**(1-p)",
        {"R": "sqrt(d)*(n*eps/sqrt(d))**(1/p)"},
        _P,
        note="Of what Theorem 7 claims, at T = n²ε²/(dR²) and without logarithms.",
    ),
    Choice(
        "P2.O3",
        "R*sqrt(d)/(n*sqrt(rho)) + sqrt(d/n) + d**((p-1)/2)*R**(1-p)",
        {"R": "sqrt(d)*(n*sqrt(rho)/d)**(1/p)"},
        _P,
        note="R at T = ρn²/(dR²).",
    ),
    Choice(
        "P2.O4",
        "1/sqrt(T) + sqrt(d/n) + R*sqrt(d*T)/(n*sqrt(rho)) + d**((p-1)/2)*R**(1-p)",
        {"R": "sqrt(d)*(n*sqrt(rho)/(d*sqrt(T)))**(1/p)", "T": "(n*sqrt(rho)/d)**(2*(p-1)/(2*p-1))"},
        _P,
        note="R and T together.",
    ),
)

_ROOT_MEAN_SQUARE = f"sqrt({p3.SQUARE})"
_CONVEX = f"D**2/(eta*T) + eta*R**2 + eta*({p3.SQUARE}) + D*({p3.BIAS})"
_MEDIAN = "sqrt(d)*(u**(1/(1+v))*(1/n)**(v/(1+v)) + u/tau**v) + tau*d/(eps*n)"

_P3 = (
    Choice(
        "P3.T1",
        "sqrt(B**(1-v)*u*log(1/xi)/n) + B*log(1/xi)/n + u/B**v + B*sqrt(log(1/delta))*sqrt(log(1/xi))/(n*eps)",
        {"B": "(u*n*eps/(log(1/xi)*sqrt(log(1/delta))))**(1/(1+v))"},
        _V,
        attained=False,
        excess="log(1/xi)",
        note="The noise has √log(1/ξ) only: with the best B the part with ε has log(1/ξ)^{v/(2+2v)}, not log(1/ξ)^{v/(1+v)}.",
    ),
    Choice(
        "P3.O1",
        "sqrt(B**(1-v)*u*log(1/xi)/n) + B*log(1/xi)/n + u/B**v + B*log(1/xi)/(n*eps)",
        {"B": "(u*n*eps/log(1/xi))**(1/(1+v))"},
        _V,
        note="The range of the truncation under pure privacy.",
    ),
    Choice(
        "P3.O2",
        "d*(B**(1-v)*u/n + u**2/B**(2*v) + B**2*d**2/(n*eps)**2)",
        {"B": "(u*n*eps/d)**(1/(1+v))"},
        _V,
    ),
    Choice(
        "P3.T6",
        _CONVEX,
        {
            "eta": "D/(R*sqrt(T))",
            "T": "R**2*eps**2*n**2/(tau**2*d**4)",
            "tau": "(eps*n/d**(3/2))**(1/(1+v))",
        },
        _V,
        attained=False,
        note="η, T, τ together.  The published τ has no u, the published η leaves two terms with 1/R²; P3.O3 has the best ones.",
    ),
    Choice(
        "P3.O3",
        _CONVEX,
        {
            "eta": f"D/((R + {_ROOT_MEAN_SQUARE})*sqrt(T))",
            "T": "1 + R**2*eps**2*n**2/(tau**2*d**4)",
            "tau": "(u*eps*n/d**(3/2))**(1/(1+v))",
        },
        _V,
        note="η, T, τ together.",
    ),
    Choice(
        "P3.COR1",
        _MEDIAN,
        {"tau": "(u*eps*n/sqrt(d))**(1/(1+v))"},
        _V,
        note="Theorem 3's rate without logarithms.",
    ),
    Choice(
        "P3.L20",
        _MEDIAN.replace("(1/n)", "(T/n)").replace("tau*d/(eps*n)", "tau*d*T/(eps*n)"),
        {"tau": "(u*eps*n/(sqrt(d)*T))**(1/(1+v))"},
        (*_V, "T>=1"),
        note="On batches of n/T records; the paper has √T in place of T.",
    ),
    Choice(
        "P3.T7",
        _MEDIAN,
        {"tau": "(u*eps*n/d**(3/2))**(1/(1+v))"},
        _V,
        attained=False,
        excess="d",
        note="The published τ (T is a constant there): the bias is d^{v/(1+v)} times larger than at Corollary 1's τ.",
    ),
    Choice(
        "P3.T10",
        "s*(T*B**(1-v)*u*log(d/xi)/n + u**2/B**(2*v) + T**2*B**2*s*log(1/delta)*log(d/xi)**2/(n**2*eps**2))",
        {"B": "(u*n*eps/(T*log(d/xi)*sqrt(s*log(1/delta))))**(1/(1+v))"},
        (*_V, "s>=1", "T>=1"),
        note="At T = log n or any other number of steps.",
    ),
)

_PHASES = "lam*D**2 + G**2/(lam*n) + r**2/lam"

_P4 = (
    Choice(
        "P4.INTRO.d",
        "D*(G/sqrt(T) + C*d*sqrt(T)/(n*eps) + G**k*C**(1-k))",
        {"T": "G*n*eps/(C*d)", "C": "G*(n*eps/d)**(1/(2*k-1))"},
        _K,
        note="T and C together.",
    ),
    Choice(
        "P4.P2.5",
        "C*d/(lam*n*eps) + C/(lam*n) + G**k*C**(1-k)/lam",
        {"C": "G*(n*eps/d)**(1/k)"},
        ("k>=2", "eps<=d"),
        note="Constant failure probability.",
    ),
    Choice(
        "P4.S2.2",
        "C*d/(lam*n*eps) + sqrt(D*G**k*C**(1-k)/lam)",
        {"C": "(lam*D*G**k)**(1/(k+1))*(n*eps/d)**(2/(k+1))"},
        _K,
        note="The threshold of the route through function values, before localisation.",
    ),
    Choice(
        "P4.PC.3",
        "sqrt(C*d/(lam*n*eps)*G**k*C**(1-k)/lam) + C*d/(lam*n*eps)",
        {"C": "G*(n*eps/d)**(1/k)"},
        _K,
        note="The same on the localised set, R = Cd/(λnε).",
    ),
    Choice(
        "P4.TE.1",
        "(C*(B+log(1/xi))/(n*eps) + G**k*C**(1-k))/lam",
        {"C": "G*(n*eps/(B+log(1/xi)))**(1/k)"},
        _K,
    ),
    Choice(
        "P4.PF.5",
        "C*d/(lam*n*eps) + G**k*C**(1-k)/lam",
        {"C": "G*(n*eps/d)**(1/k)"},
        _K,
    ),
    Choice(
        "P4.LD.5.step",
        "R**2/(eta*T) + eta*M**2 + nu + R*tau/eta",
        {"eta": "R/(M*sqrt(T))"},
        ("tau*T>=R",),
        attained=False,
        excess="tau*T/R",
        note="The best η = √(R²/T + Rτ)/M takes the projections' error τ into account and has M√(Rτ) in place of Mτ√T.",
    ),
    Choice(
        "P4.EQ4",
        _PHASES,
        {"lam": "(G/sqrt(n)+r)/D"},
        (),
        note="The weight of the first phase, for every r.",
    ),
    Choice(
        "P4.OURS.phase",
        "C*d/(n*eps) + C/n + G**k*C**(1-k) + G**(k/2)*C**(1-k/2)/sqrt(n)",
        {"C": "G*(n*eps/d)**(1/k)"},
        ("k>=2", "eps<=d", "n*eps>=d"),
        note="P4.S1's threshold.",
    ),
    Choice(
        "P4.OURS.bound",
        "lam*D**2 + G**2/(lam*n) + (C*d/(n*eps) + G**k*C**(1-k) + G**(k/2)*C**(1-k/2)/sqrt(n))**2/lam",
        {"lam": "(G/sqrt(n) + G*(d/(n*eps))**(1-1/k))/D", "C": "G*(n*eps/d)**(1/k)"},
        ("k>=2", "eps<=d", "n*eps>=d"),
        note="P4.S1's weight and threshold together.",
    ),
    Choice(
        "P4.OURS.objective",
        "lam*D**2 + (C*d/(n*eps))**2/lam + G**2/(lam*n) + G**2/(lam*n*eps) + D*G**k*C**(1-k)",
        {"lam": "G/D*(1/sqrt(n) + 1/sqrt(n*eps)) + C*d/(n*eps*D)", "C": "G*(n*eps/d)**(1/k)"},
        ("k>=2",),
        note="P4.S2's weight and threshold together.",
    ),
)

CHOICES: tuple[Choice, ...] = (*_P0, *_P1, *_P2, *_P3, *_P4)
