"""Our own scripts' functions, one by one, in the browser that runs them: no page around them."""

import pytest

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.looks]


@pytest.fixture
def call(context, live_server):
    """Run a piece of script with a module of ours as `m`, and return what it returns."""
    page = context().new_page()
    page.goto("/accounts/login/")

    def run(module: str, body: str):
        return page.evaluate(
            f"async () => {{ const m = await import('/static/{module}'); {body} }}"
        )

    return run


def test_a_copy_is_kept_read_back_and_dropped_when_empty(call):
    kept = call(
        "outbox.js",
        """const key = m.keyOf("p1", "s1");
        const copy = {url: "/d/", page: "/r/", fields: {a: ["", "text"]}};
        const steps = [key, m.keep(key, copy), m.kept(key), m.keysOf("p1")];
        steps.push(m.keep(key, {url: "", page: "", fields: {}}), m.kept(key), m.keysOf("p1"));
        return steps;""",
    )
    copy = {"url": "/d/", "page": "/r/", "fields": {"a": ["", "text"]}}
    assert kept == ["awb:p1:s1", True, copy, ["awb:p1:s1"], True, None, []]


def test_a_copy_that_cannot_be_stored_is_not_claimed(call):
    claimed = call(
        "outbox.js",
        """Storage.prototype.setItem = () => { throw new DOMException("full"); };
        return m.keep(m.keyOf("p1", "s1"), {url: "", page: "", fields: {a: ["", "x"]}});""",
    )
    assert claimed is False


def test_a_copy_that_reads_back_differently_is_not_claimed(call):
    claimed = call(
        "outbox.js",
        """Storage.prototype.setItem = () => {};
        return m.keep(m.keyOf("p1", "s1"), {url: "", page: "", fields: {a: ["", "x"]}});""",
    )
    assert claimed is False


@pytest.mark.parametrize("stored", ["null", "{", '"text"', '{"fields": 3}', "[]"])
def test_what_is_no_copy_is_none(call, stored):
    assert call("outbox.js", f"localStorage.setItem('k', `{stored}`); return m.kept('k');") is None


def test_one_person_never_gets_the_keys_of_another(call):
    seen = call(
        "outbox.js",
        """m.keep(m.keyOf("p1", "s"), {url: "", page: "", fields: {a: ["", "x"]}});
        m.keep(m.keyOf("p10", "s"), {url: "", page: "", fields: {a: ["", "x"]}});
        return [m.keysOf("p1"), m.keysOf("p10"), m.keysOf(""), m.holdsOthers("p1")];""",
    )
    assert seen == [["awb:p1:s"], ["awb:p10:s"], [], True]


@pytest.mark.parametrize(
    ("box", "passages"),
    [
        ("", []),
        ("one\\n\\n  two  three \\n", ["one", "two three"]),
        ("l·l\\u00a0i\\ttab", ["l·l i tab"]),
    ],
)
def test_passages_are_lines_with_single_spaces(call, box, passages):
    assert call("evidence.js", f'return m.passages("{box}");') == passages
