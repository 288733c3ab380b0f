"""Time: how long a judge was at a response, and how long the rest may take, from the own pace."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from ratings.models import Judge, Submission

AWAY = timedelta(minutes=10)  # a longer silence between two saves is no work on the response
_PAUSE = timedelta(minutes=20)
_ENOUGH = 5  # responses after which a pace can be told
_LOOKED_AT = 30  # the newest ones: people grow quicker
_STEP = 5


def spent(*moments: datetime | None, until: datetime) -> int:
    """Return the milliseconds of work since the latest of these moments; 0 if it was a pause.

    The moments are when the page was made and when something was last saved. Time without a word
    written counts up to ten minutes, as reading.
    """
    known = [one for one in moments if one is not None and one <= until]
    silence = until - max(known, default=until)
    return 0 if silence > AWAY else round(silence.total_seconds() * 1000)


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
