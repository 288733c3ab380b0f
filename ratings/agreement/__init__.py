"""Agreement among judges, with its uncertainty. Pure: no framework, no I/O, no global state.

The way through: `matrix` (validated input) -> `sums` (what adds up over clusters) ->
`coefficients` (functions of weighted sums) -> `resampling` (intervals) -> `analyse` (a report's
part). `contrasts` compares conditions; `comparison` holds means, groups of judges, and people
against a model.
"""
