"""Which finder looked at a text: a name that changes whenever its code or its lists do.

Pure. A decision keeps it, so that one can tell what the program could see when it was taken.
"""

import hashlib
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_CODE = ("blinding.py", "findings.py", "scaffold.py", "wording.py")


@cache
def finder_version() -> str:
    """Return `finder-` and twelve figures of the SHA-256 over the finder's code and word lists."""
    digest = hashlib.sha256()
    for path in [*(_HERE / name for name in _CODE), *sorted((_HERE / "data").glob("*.json"))]:
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return f"finder-{digest.hexdigest()[:12]}"
