"""Agreement among judges, with its uncertainty. Pure: no framework, no I/O, no global state.

The way through: `matrix` (validated input) -> `sums` (what adds up over clusters) ->
`coefficients` (functions of weighted sums) -> `resampling` (intervals) -> `analyse` (a report's
part). `comparison` holds conditions, groups of judges, and people against a model.
"""
