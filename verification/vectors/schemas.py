"""JSON Schemas of the vector files, one for every kind: strict, with no key beyond those that are named."""

from __future__ import annotations

from typing import Any

from tailproof.verification.vectors.bugs import BUG_CLASSES

FORMAT = "tailproof-vectors"
VERSION = 1

Schema = dict[str, Any]

NUMBER: Schema = {"type": "number"}
POSITIVE: Schema = {"type": "number", "exclusiveMinimum": 0}
COUNT: Schema = {"type": "integer", "minimum": 1}
INDEX: Schema = {"type": "integer", "minimum": 0}
TEXT: Schema = {"type": "string", "minLength": 1}
BOOLEAN: Schema = {"type": "boolean"}


def _list(items: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": items, "minItems": least}


def _one(*values: str) -> Schema:
    return {"enum": list(values)}


def _any(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def _or_null(schema: Schema) -> Schema:
    return _any(schema, {"type": "null"})


def _object(optional: dict[str, Schema] | None = None, /, **required: Schema) -> Schema:
    """Exactly these keys, and perhaps the optional ones."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _map(values: Schema) -> Schema:
    """Any keys, all with such values."""
    return {"type": "object", "properties": {}, "required": [], "additionalProperties": values}


NUMBERS, TABLE = _list(NUMBER), _list(_list(NUMBER, 1), 1)

_RELATION = _one("replace-one", "add-remove")
CLAIM = _any(
    _object(claim=_one("pure"), epsilon=POSITIVE, neighbouring=_RELATION),
    _object(claim=_one("approx"), epsilon=POSITIVE, delta=POSITIVE, neighbouring=_RELATION),
    _object(claim=_one("zcdp"), rho=POSITIVE, neighbouring=_RELATION),
    _object(claim=_one("gdp"), mu=POSITIVE, neighbouring=_RELATION),
)
_SIMPLE_SETS = (
    _object(ball=_object(center=NUMBERS, radius=POSITIVE)),
    _object(box=_object(lower=NUMBERS, upper=NUMBERS)),
    _object(l1=_object(center=NUMBERS, radius=POSITIVE)),
    _object(ellipsoid=_object(center=NUMBERS, shape=TABLE)),
    _object(polytope=_object(normals=TABLE, offsets=NUMBERS)),
)
DOMAIN = _any(*_SIMPLE_SETS, _object(localised=_object(base=_any(*_SIMPLE_SETS), center=NUMBERS, radius=POSITIVE)))
LOSS = _any(TEXT, _object(quadratic=TABLE))

# Certificates of comparisons: fractions are text, polynomials are text or {"monomial": "coefficient"}, quotients are pairs of them.
_POLYNOMIAL = _any(TEXT, _map(TEXT))
_QUOTIENT = _any(TEXT, _map(TEXT), _list(_POLYNOMIAL))
_EXPONENTS = _map(_POLYNOMIAL)
_BOUNDS = _list(_object(bound=_QUOTIENT, closed=BOOLEAN))
_CONSTRAINT = _object(text=TEXT, exponents=_EXPONENTS, constant=TEXT, exact=BOOLEAN)
_TIE = _object(symbol=TEXT, multiplier=_POLYNOMIAL, power=_POLYNOMIAL)
_PROOF: Schema = _any(
    _object(
        pairs=_list(
            _list(
                _object(
                    {"bound": TEXT},
                    total=_POLYNOMIAL,
                    left=_list(_POLYNOMIAL),
                    right=_list(_POLYNOMIAL),
                    constraints=_list(_POLYNOMIAL),
                    logs=_list(_TIE),
                )
            )
        )
    ),
    _object(
        pieces=_list(
            _any(
                _object(at=_QUOTIENT, then={"$ref": "#/$defs/proof"}),
                _object(**{"from": _or_null(_QUOTIENT)}, to=_or_null(_QUOTIENT), then={"$ref": "#/$defs/proof"}),
            )
        )
    ),
)
_CERTIFICATE = _object(
    {
        "cases": _list(
            _object(
                orders=_list(_object(smaller=TEXT, larger=TEXT, power=TEXT, multipliers=_list(TEXT))),
                proof={"$ref": "#/$defs/proof"},
            )
        ),
        "witness": _object(
            {"text": _list(TEXT)},
            case=_list(INDEX),
            parameters=_map(TEXT),
            path=_list(_map(TEXT)),
            inside=_map(TEXT),
            left=INDEX,
            right=INDEX,
        ),
    },
    format=TEXT,
    verdict=_one("dominated", "separated"),
    left=TEXT,
    right=TEXT,
    where=_list(TEXT),
    conventions=_list(TEXT),
    uniform=BOOLEAN,
    logs=BOOLEAN,
    claim=_object(
        parameters=_list(_object(name=TEXT, lower=_BOUNDS, upper=_BOUNDS)),
        denominator=_POLYNOMIAL,
        left=_list(_list(_EXPONENTS)),
        right=_list(_list(_EXPONENTS)),
        constraints=_list(_CONSTRAINT),
        alternatives=_list(_list(_CONSTRAINT)),
        logs=_list(_object(symbol=TEXT, of=_EXPONENTS)),
    ),
)

_PHASES = _list(_object(size=COUNT, step=POSITIVE, weight=POSITIVE, clip=POSITIVE, radius=POSITIVE, steps=COUNT), 1)
_POPULATION_PHASES = _list(
    _object(size=COUNT, weight=POSITIVE, lipschitz=POSITIVE, radius={"type": "number", "minimum": 0}, kappa=POSITIVE), 1
)
_PLAN = _any(
    _object(
        phases=_POPULATION_PHASES,
        repetitions=COUNT,
        spend=CLAIM,
        solver=_one("single", "double"),
        bound=POSITIVE,
        failure=_or_null(POSITIVE),
    ),
    _object(
        epsilon=POSITIVE, lipschitz=POSITIVE, weight=_or_null(POSITIVE), bound=POSITIVE, share=POSITIVE, reserve=POSITIVE
    ),
)
_ESTIMATOR_PARAMETERS = {"clip": POSITIVE, "rho": POSITIVE, "epsilon": POSITIVE, "delta": POSITIVE}
_ESTIMATOR = _object(
    function=TEXT, parameters=_object({**_ESTIMATOR_PARAMETERS, "failure": POSITIVE, "truncation": POSITIVE})
)
_BY_TYPE: dict[tuple[str, ...], Schema] = {
    (
        "clip",
        "rho",
        "epsilon",
        "delta",
        "failure",
        "truncation",
        "moment_order",
        "moment_bound",
        "second_moment",
        "smoothness",
        "smoothing",
        "weight",
        "lipschitz",
        "kappa",
        "share",
        "mesh",
        "learning_rate",
        "step",
        "step_size",
        "scale",
        "radius",
        "proximity",
        "low",
        "high",
        "ratio",
    ): POSITIVE,
    ("groups", "steps", "iterations", "sparsity", "trim", "blocks", "most_steps", "batch"): COUNT,
    ("lower", "upper"): NUMBER,
    (
        "median",
        "clamp",
        "noise",
        "centres",
        "sampling",
        "reading",
        "convexity",
        "batching",
        "sampler",
        "amplification",
    ): TEXT,
}
PARAMETERS = _object(
    {
        **{name: schema for names, schema in _BY_TYPE.items() for name in names},
        "loss": LOSS,
        "domain": TEXT,
        "phases": _PHASES,
        "stages": _list(_object(size=COUNT, radius=_or_null(POSITIVE), phases=_PHASES), 1),
        "parts": _list(_object(size=COUNT, clip=POSITIVE, steps=COUNT, proximity=POSITIVE), 1),
        "plan": _PLAN,
        "estimator": _any(TEXT, _ESTIMATOR),
    }
)
_VALUE = _any(NUMBER, NUMBERS, TABLE)
RUN = _object(
    algorithm=TEXT,
    parameters=PARAMETERS,
    data=TABLE,
    outputs=_list(_any(_object(name=TEXT, value=_VALUE), _object(name=TEXT, tilt=NUMBERS))),
)
_COLUMNS = _object(
    {
        "names": _list(TEXT),
        "laws": _list(TEXT),
        "rows": _list(_or_null(_list(INDEX))),
        "locations": _list(NUMBERS),
        "scales": _list(NUMBERS),
        "shapes": _list(NUMBERS),
        "sensitivities": _list(_or_null(_object(norm=_one("1", "2", "inf"), value=NUMBERS, rate=_or_null(POSITIVE)))),
        "spends": _list(_or_null(CLAIM)),
        "output": NUMBERS,
    }
)

_PUBLIC = ("n", "d", "records", "dimension", "true_sparsity", "net_size")
_SCHEDULE_NUMBERS = {
    **dict.fromkeys(_PUBLIC, COUNT),
    **dict.fromkeys(("epsilon", "delta", "rho", "failure", "moment_order", "moment_bound", "second_moment"), POSITIVE),
    **dict.fromkeys(("step", "lipschitz", "horizon", "smoothness", "gradient_bound", "diameter"), POSITIVE),
    "strong_convexity": POSITIVE,
}
_SCHEDULED = {
    **dict.fromkeys(("sigma", "shrink", "scale", "beta", "bound", "lipschitz", "learning_rate", "truncation"), POSITIVE),
    **dict.fromkeys(("groups", "steps", "sparsity"), COUNT),
    "failure": POSITIVE,
    "convexity": TEXT,
}
_PROBLEM = {"loss": LOSS, "data": TABLE, "domain": DOMAIN, "lipschitz": POSITIVE}
_CALIBRATED = {
    **dict.fromkeys(("sensitivity", "epsilon", "delta", "rho", "share"), POSITIVE),
    **dict.fromkeys(("groups", "sparsity", "steps"), COUNT),
    "amplification": TEXT,
}

KINDS: dict[str, tuple[Schema, Schema]] = {
    "clipping": (_object(data=TABLE, clip=POSITIVE), _object(rows=TABLE, mean=NUMBERS)),
    "truncation": (_object(data=TABLE, bound=POSITIVE), _object(rows=TABLE, mean=NUMBERS)),
    "median-of-means": (
        _object(data=TABLE, groups=COUNT, truncation=POSITIVE, rule=_one("average", "low")),
        _object(means=TABLE, median=NUMBERS),
    ),
    "soft-truncation": (_object(values=NUMBERS, beta=POSITIVE), _object(values=NUMBERS)),
    "smooth-sensitivity": (
        _object(values=NUMBERS, lower=NUMBER, upper=NUMBER, trim=COUNT, smoothness=POSITIVE, clamp=_one("output", "data")),
        _object(mean=NUMBER, sensitivity=POSITIVE),
    ),
    "aggregate-sensitivity": (
        _object(points=NUMBERS, width=POSITIVE, smoothness=POSITIVE, centres=_one("data", "any")),
        _object(centre=NUMBER, sensitivity=POSITIVE),
    ),
    "projection": (_object(domain=DOMAIN, point=NUMBERS), _object(point=NUMBERS)),
    "lipschitz-extension": (_object(**_PROBLEM, point=NUMBERS), _object(values=NUMBERS, gradients=TABLE)),
    "rate-certificate": (_object(certificate=_CERTIFICATE), _object(valid=BOOLEAN)),
    "minimiser-certificate": (
        _object(
            **_PROBLEM,
            weight=POSITIVE,
            anchor=NUMBERS,
            certificate=_object(point=NUMBERS, duals=NUMBERS, minimisers=TABLE, subgradients=TABLE),
            accuracy=POSITIVE,
        ),
        _object(proved=BOOLEAN),
    ),
    "calibration": (_object(_CALIBRATED, rule=TEXT), _object(value=POSITIVE)),
    "conversion": (
        _object(
            **{"from": CLAIM},
            to=_one("pure", "approx", "zcdp", "gdp", "replace-one", "add-remove"),
            delta=_or_null(POSITIVE),
        ),
        _object(claim=_or_null(CLAIM)),
    ),
    "composition": (
        _object(
            {"times": COUNT, "slack": POSITIVE},
            rule=_one("basic", "zcdp", "gdp", "parallel", "advanced", "split for advanced"),
            claims=_list(CLAIM, 1),
        ),
        _object(claim=_or_null(CLAIM)),
    ),
    "schedule": (
        _object(of=TEXT, numbers=_object(_SCHEDULE_NUMBERS)),
        _object(parameters=_any(_object(_SCHEDULED), _PHASES)),
    ),
    "transcript": (_object({"replace": _object(row=INDEX, record=NUMBERS)}, run=TEXT), _COLUMNS),
}


def schema_of(kind: str) -> Schema:
    """The schema of a whole file of this kind."""
    inputs, expected = KINDS[kind]
    names = list(BUG_CLASSES)
    bug = _object(description=TEXT, effect=TEXT)
    limit: Schema = {"type": "number", "minimum": 0}
    test = _object(
        id={"type": "string", "pattern": f"^{kind}/.+$"},
        comment=TEXT,
        flags={**_list({"enum": names}, 1), "uniqueItems": True},
        inputs=inputs,
        expected=expected,
        tolerance=_object(absolute=limit, relative=limit),
    )
    parts: dict[str, Schema] = {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "kind": {"const": kind},
        "schema": {"const": f"{kind}.schema.json"},
        "description": TEXT,
        "bug_classes": {**_map(bug), "propertyNames": {"enum": names}},
        "tests": _list(test, 1),
    }
    if kind == "transcript":
        parts["runs"] = _map(RUN)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Tailproof vectors: {kind}",
        **_object(**parts),
    }
    return {**schema, "$defs": {"proof": _PROOF}} if kind == "rate-certificate" else schema
