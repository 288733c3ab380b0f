"""How long the rest may take a judge: a range from the own pace, never shown beside a response."""

import math
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from ratings.models import Judge, Submission

_PAUSE = timedelta(minutes=20)
_ENOUGH = 5  # responses after which a pace can be told
_LOOKED_AT = 30  # the newest ones: people grow quicker
_STEP = 5


@dataclass(frozen=True)
class TimeLeft:
    """The lower and the upper end of the range, in minutes."""

    low: int
    high: int


def time_left(judge: Judge, *, responses: int) -> TimeLeft | None:
    """Estimate the minutes for so many more responses; None before five have been done (1 query).

    The range is from the lower to the upper quartile of the times between one «done» and the next,
    pauses of more than 20 minutes left out.
    """
    moments = list(
        Submission.objects.filter(slot__judge=judge, number=1)
        .order_by("-at")
        .values_list("at", flat=True)[:_LOOKED_AT]
    )
    gaps = sorted(
        (later - earlier).total_seconds() / 60
        for later, earlier in pairwise(moments)
        if later - earlier < _PAUSE
    )
    if not responses or len(moments) < _ENOUGH or len(gaps) < _ENOUGH - 1:
        return None
    low, high = (gaps[round((len(gaps) - 1) * share)] * responses for share in (0.25, 0.75))
    low_steps, high_steps = math.floor(low / _STEP), math.ceil(high / _STEP)
    return TimeLeft(max(1, low_steps) * _STEP, max(2, high_steps, low_steps + 1) * _STEP)
