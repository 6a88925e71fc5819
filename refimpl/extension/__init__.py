"""The Lipschitz extension f_C of convex losses, and certified minimisation of its regularised mean.

Reference and twin: `socp` (one record, conic programming) and `batched` with `penalised` (all records at once).
Minimisation: `certified`, by way of `smoothing`, `envelope`, `curvature` and `refined`; what it returns is checked by
`certificate`, which knows nothing of them.  The paper's own methods: `joint` (Algorithm 3) and `fixed_step` (Theorem D.4).
"""
