"""Which responses a set has, by what files call them."""

from dilemmas.models import Response, ResponseSet

Key = tuple[str, ...]


def known_responses(response_set: ResponseSet) -> dict[Key, Response]:
    """Return the set's responses by the key that files name them with."""
    rows = Response.objects.filter(response_set=response_set).select_related("dilemma", "condition")
    return {
        (r.external_id,)
        if r.external_id
        else (r.dilemma.code, r.condition.label, r.generator, str(r.replicate)): r
        for r in rows
    }
