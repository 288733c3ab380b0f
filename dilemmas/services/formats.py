"""Which columns each kind of file has: one list for reading, for the format page and for the docs.

A rubric is a JSON document, not a table; its keys are listed here for the page and the docs only.
"""

from django.utils.translation import gettext_lazy as lazy

from dilemmas.services.reading import Column, Format

DILEMMAS = Format(
    "dilemmas",
    (
        Column(
            "code", "label", lazy("names the dilemma in its collection"), "EX-001",
            required=True, filled=True, also=("dilemma", "dilemma_code", "id"),
        ),
        Column(
            "family", "label", lazy("the group it belongs to; never read from the code"),
            "personal", longest=100,
        ),
        Column(
            "language", "label", lazy("language of this row: ca, es, en, …"), "en",
            required=True, filled=True, longest=16, also=("lang",),
        ),
        Column("title", "text", example="The umbrella", by_language=True),
        Column(
            "context", "text", lazy("what the judge reads"), "A colleague left …",
            required=True, by_language=True,
        ),
        Column(
            "stage", "whole", lazy("for a dilemma told in stages: 1, 2, …"), "2", default="1",
        ),
        Column("actors", "text", lazy("who is concerned"), "You, a colleague", by_language=True),
        Column(
            "costs", "text", lazy("what each way out costs"), "A wet walk; trust",
            by_language=True,
        ),
        Column(
            "required_axes", "names", lazy("axes that an answer must cover, D1 to D4"), "D1 D3",
        ),
        Column(
            "required_components", "names",
            lazy("components of wisdom that an answer must show"), "prosocial decisiveness",
        ),
    ),
)  # fmt: skip

RESPONSES = Format(
    "responses",
    (
        Column(
            "id", "label",
            lazy(
                "your own name for the response; without it, dilemma, condition, generator and "
                "replicate name it"
            ),
            "R1", longest=300, also=("response_id", "item_id"),
        ),
        Column(
            "dilemma", "label", lazy("code of the dilemma"), "EX-001",
            required=True, filled=True, also=("dilemma_code", "prompt_id", "prompt"),
        ),
        Column(
            "condition", "label", lazy("how it was made; no judge ever sees it"), "plain",
            required=True, filled=True,
        ),
        Column(
            "text", "text", lazy("the response as the system gave it, not blinded"),
            "Take it. …", required=True, filled=True, also=("response", "response_text"),
        ),
        Column(
            "generator", "label", lazy("the system"), "some-model-1", also=("model",),
        ),
        Column(
            "replicate", "whole",
            lazy("numbers several responses of one generator under one condition"), "1",
            default="1",
        ),
        Column(
            "language", "label",
            lazy(
                "language of the text; blinding proposes words in it, and a panel in another "
                "language cannot be frozen"
            ),
            "en", longest=16, also=("lang",),
        ),
        Column("latency_s", "number", lazy("seconds it took"), "2.1"),
        Column(
            "cost", "number", lazy("what it cost, in the currency of your choice"), "0.0004",
        ),
        Column(
            "stage", "whole", lazy("for a response in stages: which one this row answers"), "2",
            default="1",
        ),
        Column(
            "kind", "label",
            lazy(
                "response or control: a control text (an empty skeleton, say) is no response of "
                "any system"
            ),
            "control", default="response",
        ),
        Column(
            "cluster_id", "label",
            lazy("a group coarser than the dilemma, if dilemmas belong together"), "square",
            longest=300,
        ),
    ),
    keeps_extra=True,
)  # fmt: skip

JUDGEMENTS = Format(
    "judgements",
    (
        Column(
            "response", "label", lazy("the response's id"), "R1", longest=300,
            when=lazy("if the responses have an id"), also=("response_id", "item_id"),
        ),
        Column(
            "dilemma", "label", lazy("with the next three, names the response"), "AWB-001",
            when=lazy("otherwise"), also=("dilemma_code", "prompt_id", "prompt"),
        ),
        Column("condition", "label", example="A", when=lazy("otherwise")),
        Column(
            "generator", "label", example="demo", when=lazy("if the response has one"),
        ),
        Column("replicate", "whole", example="1", default="1"),
        Column(
            "judge", "label", lazy("the model judge, or the measure"), "model-judge",
            required=True, filled=True,
        ),
        Column("repetition", "whole", example="3", default="1"),
        Column(
            "criterion", "label", lazy("the criterion's key"), "case",
            required=True, filled=True, longest=100,
        ),
        Column(
            "score", "number", lazy("any real number"), "2", required=True,
            when=lazy("yes; empty where it gave none"),
        ),
        Column("reason", "text", example="Argues from the case."),
        Column(
            "model_version", "label", lazy("as exactly as it is known"), "judge-2026-09",
        ),
        Column(
            "prompt_sha256", "label", lazy("hash of the prompt, 64 hexadecimal digits"), "03ba…",
            longest=64,
        ),
        Column(
            "text_sha256", "label", lazy("hash of the text that the judge was given"), "9f86…",
            longest=64,
        ),
        Column("date", "label", lazy("when it judged"), "2026-09-17", longest=40),
    ),
)  # fmt: skip

RUBRIC = Format(
    "rubric",
    (
        Column(
            "code", "label", lazy("names the rubric: a–z, 0–9, hyphens"), "awb-semantic",
            required=True,
        ),
        Column("version_label", "label", lazy("what its author calls this version"), "draft-1"),
        Column(
            "provenance", "text", lazy("where it comes from; printed in the report"),
            "Our reconstruction …",
        ),
        Column(
            "languages", "list", lazy("the languages in which every text is given"),
            '["ca", "es", "en"]',
        ),
        Column("title", "by_language"),
        Column(
            "norms", "by_language", lazy("what holds for all criteria; stands beside them"),
            '{"en": "Length earns nothing."}',
        ),
        Column(
            "instructions", "by_language",
            lazy("Markdown; the judges' first page, with a worked example of each criterion"),
        ),
        Column(
            "criteria", "list", lazy("one or more, in the order in which judges see them"),
            required=True,
        ),
        Column(
            "needs_owner_consent", "list",
            lazy("rules that the rubric's owner has not agreed to yet: key, where, why, text"),
        ),
    ),
)  # fmt: skip

CRITERION = Format(
    "criterion",
    (
        Column(
            "key", "label", lazy("names it in files, reports and scores"), "opposition",
            required=True,
        ),
        Column(
            "kind", "label", lazy("one of ordinal, yes_no, choice, number, tag"), "ordinal",
            default="ordinal",
        ),
        Column(
            "scope", "label",
            lazy("whole or part: whether the whole response is scored or each stage of it"),
            "whole", default="whole",
        ),
        Column(
            "asks_rationale", "boolean", lazy("whether the judge is asked for a reason"), "true",
            default="true",
        ),
        Column("name", "by_language", example='{"en": "Real opposition"}', required=True),
        Column("question", "by_language", example='{"en": "Are there two positions …?"}'),
        Column(
            "applicability", "object",
            lazy(
                "stages: the numbers of the stages at which it is asked (all, if none is named); "
                "text, by language: when it applies, for judges to read"
            ),
            '{"stages": [2], "text": {…}}',
        ),
        Column(
            "boundary", "object",
            lazy(
                "what separates two neighbouring levels: their values (lower, upper) and a text "
                "for each language"
            ),
            '{"lower": 2, "upper": 3, "text": {…}}',
        ),
        Column(
            "levels", "list",
            lazy(
                "two or more: value (a number); short (at most 60 characters, stands beside the "
                "radio button) and full, each by language"
            ),
            '{"value": 0, "short": {…}, "full": {…}}', required=True,
        ),
    ),
)  # fmt: skip
