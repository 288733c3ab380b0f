"""PURE. One canonical form of a JSON value (RFC 8785) and its SHA-256, for every hash we print."""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import rfc8785


def canonical(value: Any) -> bytes:
    """Return the canonical JSON of a value made of dict, list, str, int, float, bool and None."""
    return rfc8785.dumps(value)


def sha256(value: Any) -> str:
    """Return the SHA-256, in hexadecimal, of a value's canonical JSON."""
    return hashlib.sha256(canonical(value)).hexdigest()


def sha256_of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


GENESIS = "0" * 64  # what the first link of a chain points to


def link(previous: str, number: int, at: datetime, actor: str, kind: str, payload: str) -> str:
    """Return the hash of an event that follows `previous` in a chain."""
    event = {
        "number": number,
        "at": at.timestamp(),
        "actor": actor,
        "kind": kind,
        "payload": payload,
    }
    return sha256({"previous": previous, "event": event})


def broken_at(rows: Iterable[Any]) -> int | None:
    """Return the number of the first event that does not follow from its predecessor, or None.

    `rows` are the events in order, with `number`, `at`, `actor`, `kind`, `payload`, `previous` and
    `sha256`.
    """
    previous, expected = GENESIS, 1
    for row in rows:
        made = link(previous, row.number, row.at, row.actor, row.kind, row.payload)
        if row.number != expected or row.previous != previous or row.sha256 != made:
            return expected
        previous, expected = row.sha256, expected + 1
    return None
