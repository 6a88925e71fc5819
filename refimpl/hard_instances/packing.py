"""Packings: vectors far apart, constructed; their size and separation are measured, never assumed.

The papers take codes from the Gilbert–Varshamov bound, which says little in few dimensions: |V| ≥ 2^{d/20} is 2 vectors up
to d = 20. Here a code is grown greedily from all words, or from many drawn ones where there are too many, and is as large
as that makes it.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.spatial.distance import pdist

from tailproof.refimpl.validation import FloatArray, InputError, whole

CANDIDATES = 4000


def packing(dimension: int, size: int, *, seed: int = 0) -> FloatArray:
    """Unit vectors, far apart: ±1, a regular polygon, or each the farthest from the others among many random ones."""
    d, size = whole("dimension", dimension, least=1), whole("size", size, least=2)
    if d == 1:
        if size != 2:
            raise InputError(f"size = {size}: must be 2 in one dimension")
        return np.array([[1.0], [-1.0]])
    if d == 2:
        angles = 2 * np.pi * np.arange(size) / size
        return np.column_stack([np.cos(angles), np.sin(angles)])
    candidates = np.random.default_rng(seed).standard_normal((max(CANDIDATES, 20 * size), d))
    candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
    chosen, near = [0], np.linalg.norm(candidates - candidates[0], axis=1)
    while len(chosen) < size:
        chosen.append(int(np.argmax(near)))
        near = np.minimum(near, np.linalg.norm(candidates - candidates[chosen[-1]], axis=1))
    return np.asarray(candidates[chosen])


def separation(vectors: FloatArray) -> float:
    """The least distance of two rows."""
    return float(pdist(vectors).min())


def sign_code(dimension: int, *, distance: int, most: int = CANDIDATES, seed: int = 0) -> FloatArray:
    """Rows of ±1 that differ in `distance` places or more  [P0, proof of Theorem 4: d/8]."""
    d = whole("dimension", dimension, least=1)
    if 2**d <= CANDIDATES:
        words = np.array(list(itertools.product([1.0, -1.0], repeat=d)))
    else:
        words = np.random.default_rng(seed).choice([1.0, -1.0], size=(CANDIDATES, d))
    return _greedy(words, distance, most)


def weight_code(dimension: int, *, weight: int, distance: int, most: int = CANDIDATES, seed: int = 0) -> FloatArray:
    """Rows of 0 and 1, `weight` ones each, that differ in `distance` places or more  [P3, Lemma 21: weight d/2, distance d/8]."""
    return _greedy(np.abs(_sparse_words(dimension, weight, signs=False, seed=seed)), distance, most)


def sparse_code(dimension: int, *, sparsity: int, distance: int, most: int = CANDIDATES, seed: int = 0) -> FloatArray:
    """Rows of −1, 0 and 1, `sparsity` of them not 0, that differ in `distance` places or more  [P3, Lemma 28: distance s*/2]."""
    return _greedy(_sparse_words(dimension, sparsity, signs=True, seed=seed), distance, most)


def _sparse_words(dimension: int, weight: int, *, signs: bool, seed: int) -> FloatArray:
    d = whole("dimension", dimension, least=1)
    s = whole("weight", weight, least=1, most=d)
    patterns = np.array(list(itertools.product([1.0, -1.0], repeat=s))) if signs and s <= 12 else np.ones((1, s))
    if math.comb(d, s) * len(patterns) <= CANDIDATES:
        places = np.array(list(itertools.combinations(range(d), s)))
        values = np.tile(patterns, (len(places), 1))
        places = np.repeat(places, len(patterns), axis=0)
    else:
        rng = np.random.default_rng(seed)
        places = np.argsort(rng.random((CANDIDATES, d)), axis=1)[:, :s]
        values = rng.choice([1.0, -1.0], size=(CANDIDATES, s)) if signs else np.ones((CANDIDATES, s))
    words = np.zeros((len(places), d))
    np.put_along_axis(words, places, values, axis=1)
    return words


def _greedy(words: FloatArray, distance: int, most: int) -> FloatArray:
    """Every word that is far from all that were kept before it, at most `most` of them."""
    whole("distance", distance, least=1, most=words.shape[1])
    kept = np.empty((0, words.shape[1]))
    for word in words:
        if len(kept) == whole("most", most, least=2):
            break
        if np.all((kept != word).sum(axis=1) >= distance):
            kept = np.vstack([kept, word])
    if len(kept) < 2:
        raise InputError(f"distance = {distance}: no two words of this kind are so far apart")
    return kept
