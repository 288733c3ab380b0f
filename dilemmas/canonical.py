"""PURE. One canonical form of a JSON value (RFC 8785) and its SHA-256, for every hash we print."""

import hashlib
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


def link(previous: str, event: dict[str, Any]) -> str:
    """Return the hash of an event that follows `previous` in a chain."""
    return sha256({"previous": previous, "event": event})
