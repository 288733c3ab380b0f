"""Dates as people write them; the day never stands after the month."""

DATE_FORMAT = r"j E \d\e Y"
SHORT_DATE_FORMAT = "d/m/Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = r"j E \d\e Y, H:i"
SHORT_DATETIME_FORMAT = "d/m/Y H:i"
