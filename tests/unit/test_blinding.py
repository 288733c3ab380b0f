"""What gives a condition away is found; what stands in for it reads as a sentence."""

import itertools
import re
import time
from pathlib import Path

import pytest

from dilemmas import blinding, wording

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT.parent / "shared" / "data" / "arkadium" / "examples"


def kinds(text: str, **options: object) -> list[tuple[str, str]]:
    return [(f.kind, f.text) for f in blinding.find(text, **options)]  # type: ignore[arg-type]


def blinded(text: str, language: str = "en") -> str:
    """The proposal, which must be complete: nothing may be left for a person."""
    proposal = blinding.blind(text, language=language)
    assert proposal.safe, proposal
    return proposal.text


def held(text: str, language: str = "en") -> list[str]:
    """What is left to a person. It must still stand in the proposal."""
    proposal = blinding.blind(text, language=language)
    assert not proposal.safe
    assert all(finding.text in proposal.text for finding in proposal.unsafe)
    return [finding.text for finding in proposal.unsafe]


@pytest.mark.parametrize("code", sorted(wording.codes()))
def test_every_code_is_found(code: str) -> None:
    # OBJ beside it makes even MIT a code: the letters stand in a text that uses codes.
    found = blinding.find(f"The figure (OBJ) is one thing, and {code} is another.")
    assert (" (OBJ)", "code") in [(f.text, f.kind) for f in found]
    assert any(code in f.text and f.kind == "code" for f in found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("**FEN — Phenomenon.** It is so.", "**Phenomenon.** It is so."),
        ("**ANA — Analysis (FEN→TEO).** It is so.", "**Analysis.** It is so."),
        ("**FEN.** It is so.", "**Phenomenon.** It is so."),
        ("**AMO — care (NOU→PRA).** So.", "**Care.** So."),
        ("## FEN — Phenomenon\nIt is so.", "## Phenomenon\nIt is so."),
        ("### TEO\nIt is so.", "### Theory\nIt is so."),
        ("TEO: it is so.", "Theory: it is so."),
        ("- **TEO**: it is so.", "- **Theory**: it is so."),
        ("TEO — Theory. It is so.", "Theory. It is so."),
        ("**TEO ↔ PRA.** It is so.", "**Theory–practice.** It is so."),
    ],
)
def test_headers_lose_the_code_and_keep_the_words(before: str, after: str) -> None:
    assert kinds(before)[0][0] == "header"
    assert blinded(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("What is measured (OBJ) and what is lived (SUB).", "What is measured and what is lived."),
        ("The datum (FEN→TEO) needs a frame.", "The datum needs a frame."),
        ("The datum (FEN, NOU and TEO), again.", "The datum, again."),
        ("The datum [FEN/TEO] again.", "The datum again."),
        ("[PATH: ANA, SIN, AMO, EXP]\n\nIt is so.", "It is so."),
        ("[PATH: , , ]\nIt is so.", "It is so."),
        ("It is so. [PATH: ANA → SIN → AMO]", "It is so."),
        (
            "It sits at an axis: TEO ↔ PRA, as ever.",
            "It sits at an axis: theory–practice, as ever.",
        ),
        ("It operates on the NOU-PRA gap.", "It operates on the noumenon–practice gap."),
        ("It operates on the NOU–PRA gap.", "It operates on the noumenon–practice gap."),
        (
            "SIN must integrate what TEO has posed.",
            "Synthesis must integrate what theory has posed.",
        ),
        ("NOU presses harder than TEO.", "The noumenon presses harder than theory."),
        ("Given NOU's question, TEO waits.", "Given the noumenon's question, theory waits."),
        ("The two TEOs disagree.", "The two theories disagree."),
        (
            "TEOs compete here, and OBJ is silent.",
            "Theories compete here, and the object is silent.",
        ),
        ("It needs a TEO and an OBJ.", "It needs a theory and an object."),
        ("It needs a OBJ.", "It needs an object."),
        ("A concrete FEN appears.", "A concrete phenomenon appears."),
        (
            "One treats OBJ (what is measured) as a tool.",
            "One treats the object (what is measured) as a tool.",
        ),
        (
            "Complete across FEN, ANA, OBJ and MON.",
            "Complete across the phenomenon, analysis, the object and the world.",
        ),
        ("The PLA seed matures; TEO follows.", "The plasma seed matures; theory follows."),
    ],
)
def test_english_sentences_stay_whole(before: str, after: str) -> None:
    assert blinded(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("FEN mostra el que hi ha.", "El fenomen mostra el que hi ha."),
        ("OBJ i SUB no es contradiuen.", "L'objecte i el subjecte no es contradiuen."),
        ("Ha d'integrar el que TEO ha plantejat.", "Ha d'integrar el que la teoria ha plantejat."),
        ("Parteix de FEN i arriba a TEO.", "Parteix del fenomen i arriba a la teoria."),
        ("Parteix d'OBJ i arriba a NOU.", "Parteix de l'objecte i arriba al noümen."),
        ("Cal mirar l'OBJ, i el FEN també.", "Cal mirar l'objecte, i el fenomen també."),
        ("La veu del SUB i la del TEC (OBJ).", None),
        ("Aquest FEN i aquella TEO.", "Aquest fenomen i aquella teoria."),
        ("Dues TEO competeixen.", "Dues teories competeixen."),
        ("Les TEOs competeixen.", "Les teories competeixen."),
        ("La xifra (OBJ) és a l'historial.", "La xifra és a l'historial."),
        ("Queda l'eix PLA–MON per pensar (OBJ).", "Queda l'eix plasma–món per pensar."),
        ("**OBJ — Objecte.** Això.", "**Objecte.** Això."),
        ("Per OBJ passa tot, i per FEN res.", "Per l'objecte passa tot, i pel fenomen res."),
    ],
)
def test_catalan_sentences_stay_whole(before: str, after: str | None) -> None:
    if after is None:  # «del TEC»: the name is feminine, the article is not
        assert held(before, "ca") == ["TEC"]
    else:
        assert blinded(before, "ca") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("FEN muestra lo que hay.", "El fenómeno muestra lo que hay."),
        (
            "Va de FEN a TEO y de TEO a OBJ.",
            "Va del fenómeno a la teoría y de la teoría al objeto.",
        ),
        ("Este OBJ y esa PRA.", "Este objeto y esa práctica."),
        ("Las TEOs compiten.", "Las teorías compiten."),
    ],
)
def test_spanish_sentences_stay_whole(before: str, after: str) -> None:
    assert blinded(before, "es") == after


@pytest.mark.parametrize(
    ("text", "language", "left"),
    [
        ("The record across MON contexts is consistent, and TEO agrees.", "en", ["MON"]),
        ("The CIE (scientific) literature and TEO.", "en", ["CIE"]),
        ("The figure is (OBJ).", "en", [" (OBJ)"]),
        ("The figure: (OBJ).", "en", [" (OBJ)"]),
        ("OBJ (outside) ↔ SUB (inside).", "en", ["OBJ", "SUB"]),
        ("El marc TEO no ho veu.", "ca", ["TEO"]),
        ("El TEO no ho veu.", "ca", ["TEO"]),
        ("FEN decides, and MONt1 too.", "en", ["MONt1"]),
        ("Le phénomène FEN montre.", "fr", ["FEN"]),
        ("TEO ↔ PRA decides.", "en", ["TEO ↔ PRA"]),
        (
            "[PATH: ANA, SIN and then it breaks off",
            "en",
            ["[PATH: ANA, SIN and then it breaks off"],
        ),
    ],
)
def test_what_is_not_safe_is_left_to_a_person(text: str, language: str, left: list[str]) -> None:
    assert held(text, language) == left
    assert [f.text for f in blinding.find(text, language=language) if f.suggestion is None] == left


@pytest.mark.parametrize(
    "text",
    [
        "WHO statistics, and datasets through OECD and ETSC.",
        "La OMS i l'OCDE ho diuen; l'ONU, també.",
        "Theory and practice, phenomenon and noumenon, plasma.",
        "teo pra fen nou sub obj",
        "He took vitamin D3 and vitamina D2; the D2 receptor and the D1 receptors.",
        "Write to someone@EXAMPLE.COM or see EXAMPLE.ORG for it.",
        "FENOMEN, TEORIA i PRACTICA; OBJECTE; SUBJECTES.",
        "COVID-19, HIV, MRI, DNR and the ICU at 3 a.m.",
        "PRAX, TEOX, AOBJ, OBJ2x, FENs2.",
        "Claude Bernard and Claude Lévi-Strauss, Claude Monet and Jean-Claude.",
        "He opened the llama pen; a claude of ruin; the gemini twins; a cohering view.",
        "El principi antròpic, and the Anthropic Principle.",
        "The AI tutor enters the school as an AI tutor that pupils trust.",
        "La IA com a eina cooperativa; com a metge, no puc dir-ho.",
        "He soon became a list, a bare one.",
        "[Path of duty] and [see page 3]",
        "",
    ],
)
def test_look_alikes_are_left_alone(text: str) -> None:
    assert kinds(text) == []
    assert blinding.blind(text) == blinding.Proposal(text, (), True, ())


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("She studied at MIT.", "MIT"),
        ("The Massachusetts Institute of Technology (MIT) published it.", "MIT"),
        ("We meet at nine EST.", "EST"),
        ("He has been on ART since March.", "ART"),
        ("Interior (INT) did not answer.", "INT"),
        ("EL PLA DE BARCELONA", "PLA"),
        ("QUE NINGÚ NO VOL FEN AL POBLE", "FEN"),
        ("The D2 was late.", "D2"),
        ("MON: closed", "MON"),
    ],
)
def test_letters_that_mean_something_else_are_asked_about(text: str, token: str) -> None:
    assert kinds(text) == [("ambiguous", token)]
    assert blinding.blind(text).text == text
    assert not blinding.blind(text).safe


def test_ambiguous_letters_are_codes_where_codes_are_used() -> None:
    assert kinds("MIT is told by TEO.") == [("code", "MIT"), ("code", "TEO")]
    assert kinds("ANA → SIN → AMO")[0][0] == "code"
    assert kinds("**ANA — Anàlisi.** Això.")[0][0] == "header"
    assert {kind for kind, _text in kinds("ANA parts, SIN joins, AMO chooses, EXP ends.")} == {
        "code"
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The axis D1 is touched.", ["D1"]),
        ("D1+ and D3-.", ["D1+", "D3-"]),
        ("D1, D2 i D4 hi són.", ["D1", "D2", "D4"]),
        ("Falta l'eix D4.", ["D4"]),
    ],
)
def test_axes(text: str, found: list[str]) -> None:
    assert kinds(text) == [("axis", token) for token in found]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Arkadium says so.", "name"),
        ("Segons el Meta-Globàlium.", "name"),
        ("El meta-globalium i el Globàlium.", "name"),
        ("La volta de Mètode comença.", "name"),
        ("𝓗 is 0.96.", "name"),
        ("See https://github.com/opengea/arkadium-verifier for it.", "name"),
        ("A coverage map follows.", "name"),
        ("ChatGPT said.", "model"),
        ("chat gpt said.", "model"),
        ("GPT-4o and GPT-4 said.", "model"),
        ("gpt-4o-mini said.", "model"),
        ("claude-sonnet-4-6 and Sonnet 4.6 said.", "model"),
        ("Claude said.", "model"),
        ("Gemini 1.5 Pro said; gemini_flash did.", "model"),
        ("Gemini said.", "model"),
        ("Llama 3 and llama-31.", "model"),
        ("Mistral Large, Mistral, Mixtral.", "model"),
        ("OpenAI, Anthropic, Google DeepMind.", "model"),
        ("See https://chatgpt.com/share/x1 for it.", "model"),
        ("As an AI language model, I cannot.", "self"),
        ("As an AI, I cannot.", "self"),
        ("I'm just an AI.", "self"),
        ("I was trained on texts; my knowledge cutoff is old.", "self"),
        ("I don’t have personal experiences.", "self"),
        ("Com a model de llenguatge, no puc.", "self"),
        ("Com a intel·ligència artificial, no sento res.", "self"),
        ("Com a IA no puc decidir.", "self"),
        ("Sóc una IA i soc un model de llenguatge.", "self"),
        ("Com a model d’IA, no tinc sentiments propis.", "self"),
        ("Como modelo de lenguaje, no puedo.", "self"),
        ("Como un modelo de lenguaje, como una IA, no puedo.", "self"),
        ("Soy una inteligencia artificial.", "self"),
    ],
)
def test_names_models_and_self_identification(text: str, kind: str) -> None:
    found = kinds(text)
    assert found
    assert {one for one, _text in found} == {kind}


def test_a_sure_name_becomes_a_placeholder_in_the_language_of_the_text() -> None:
    assert blinded("I asked ChatGPT today.") == "I asked [name removed] today."
    assert blinded("Les fitxes d'Arkadium diuen.", "ca") == "Les fitxes de [nom retirat] diuen."
    assert blinded("Lo dice Arkadium.", "es") == "Lo dice [nombre retirado]."


def test_a_name_that_may_be_a_person_is_left_to_a_person() -> None:
    assert held("I asked Claude, and Gemma agreed.") == ["Claude", "Gemma"]


def test_self_identification_is_never_cut_out() -> None:
    assert held("Com a model de llenguatge, no puc.", "ca") == ["Com a model de llenguatge"]


def test_condition_labels() -> None:
    labels = ["ZEBRA-CONTROL", "bare", "A", "E", "x(y"]
    said = "This is Zebra-Control, a bare one; condition E, condició A. A letter. E too. x(y"
    assert kinds(said, condition_labels=labels) == [
        ("condition", "Zebra-Control"),
        ("ambiguous", "bare"),
        ("condition", "condition E"),
        ("condition", "condició A"),
        ("condition", "x(y"),
    ]
    assert kinds("Barely, zebra-controlled.", condition_labels=labels) == []
    assert kinds("A letter.", condition_labels=["A", ""]) == []


def test_findings_are_spans_in_order_without_overlap() -> None:
    text = (
        "**FEN — Phenomenon (OBJ).** ChatGPT and TEO ↔ PRA (SUB); D1+.\n[PATH: ANA]\nAs an AI, no."
    )
    found = blinding.find(text)
    assert len(found) == 7
    assert all(text[f.start : f.end] == f.text for f in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


def test_what_a_replacement_leaves_is_looked_at_again() -> None:
    proposal = blinding.blind("It needs TEO.", condition_labels=["theory"], language="en")
    assert proposal.text == "It needs theory."
    assert not proposal.safe


def test_every_suggested_name_is_free_of_codes() -> None:
    for code in wording.codes():
        for language in ("ca", "es", "en"):
            name = wording.plain_name(code, language)
            assert name is None or blinding.find(name) == []


@pytest.mark.parametrize(
    "text",
    [
        "Una frase qualsevol amb la seva coma, i una altra. " * 20_000,
        ("The datum (OBJ) needs TEO, and NOU–PRA gives way. " + "Plain words follow here. " * 40)
        * 1000,
        "[PATH:" * 170_000,
        "**FEN" * 20_000,
        ("\n**FEN" + "x" * 154) * 6_000,
        "TEO ↔" * 20_000,
        "(" * 1_000_000,
        " " * 1_000_000,
        "as an " * 170_000,
        "https://" + "a" * 1_000_000,
        "A" * 1_000_000,
        "D1" * 500_000,
        "# " * 500_000,
        "\n" * 1_000_000,
        "condition " * 100_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_megabyte_takes_less_than_two_seconds(text: str) -> None:
    began = time.process_time()
    blinding.find(text, condition_labels=["ZEBRA-CONTROL", "A"])
    assert time.process_time() - began < 2


CODES_ONLY = (
    "TEO ", "TEO ↔ PRA. ", "(OBJ) ", "FEN, ANA, ", "**TEO ", "TEO(", "MIT ", "NO VOL FEN ", "(TEO, ",
    "[PATH: ANA]\n", "PATH: ANA,", "_TEO", "D1+ ", "𝐅𝐄𝐍 ", "**FEN — Phenomenon.** So.\n\n",
)  # fmt: skip


@pytest.mark.parametrize("seed", CODES_ONLY)
def test_time_grows_in_proportion_to_a_text_of_only_codes(seed: str) -> None:
    def seconds(size: int) -> float:
        text = seed * (size // len(seed))
        began = time.process_time()
        blinding.find(text, condition_labels=["ZEBRA-CONTROL", "A"], language="ca")
        return time.process_time() - began

    small, large = min(seconds(10_000) for _ in range(3)), seconds(80_000)
    assert large < 1.2  # 15 µs a character, on a machine that does other things too
    assert large < 8 * small * 3


LIST = """**FEN — Fenomen.** La carta diu que el contracte s'acaba el dia 30. L'OMS i l'OCDE hi donen xifres.

**ANA — Anàlisi (FEN→TEO).** Hi ha dos contractes: el que es va signar i el que es va viure.

**OBJ.** Indicadors OBJ que tothom pot comprovar: rebuts, dates. La literatura (CIE) ho confirma.

**SIN — Síntesi (TEO→NOU).** Cap dels dos contractes no s'entén sense l'altre.

**AMO — Cura (NOU→PRA).** Es tria qui queda protegit.

**Recomanació.** Esperar un mes. Completesa: FEN, ANA, OBJ, TEO, SIN, NOU, SUB, AMO, PRA, EXP, MON i PLA.

[PATH: ANA, SIN, AMO, EXP]
"""
LIST_BLINDED = """**Fenomen.** La carta diu que el contracte s'acaba el dia 30. L'OMS i l'OCDE hi donen xifres.

**Anàlisi.** Hi ha dos contractes: el que es va signar i el que es va viure.

**Objecte.** Indicadors OBJ que tothom pot comprovar: rebuts, dates. La literatura ho confirma.

**Síntesi.** Cap dels dos contractes no s'entén sense l'altre.

**Cura.** Es tria qui queda protegit.

**Recomanació.** Esperar un mes. Completesa: el fenomen, l'anàlisi, l'objecte, la teoria, la \
síntesi, el noümen, el subjecte, l'amor, la pràctica, l'experiència, el món i el plasma.

"""
DIALECTICAL = """The letter sits at a recurring axis: TEO ↔ PRA, the rule against the kitchen. Two readings compete.

Consider what FEN presents. ANA decomposes FEN into datum and frame; the datum needs a TEO to mean anything. \
The two TEOs treat SUB (what she lives) and OBJ (what is owed) as if one were the other's tool.

NOU presses harder. SIN must integrate what TEO has posed, across PLA contexts too.

AMO is the working answer, and it operates on the NOU–PRA gap. EXP closes the cycle: the FEN we started from \
is a different FEN. The UN says so; MIT does not.
"""
DIALECTICAL_BLINDED = """The letter sits at a recurring axis: theory–practice, the rule against the kitchen. Two readings compete.

Consider what the phenomenon presents. Analysis decomposes the phenomenon into datum and frame; the datum needs \
a theory to mean anything. The two theories treat the subject (what she lives) and the object (what is owed) as if \
one were the other's tool.

The noumenon presses harder. Synthesis must integrate what theory has posed, across plasma contexts too.

Love is the working answer, and it operates on the noumenon–practice gap. Experience closes the cycle: the \
phenomenon we started from is a different phenomenon. The UN says so; MIT does not.
"""
NAIVE = "**FEN.** Lorem ipsum.\n\n**ANA.** Dolor sit.\n\n**TEO.** Amet elit.\n\n**MON.** Sed do.\n"
NAIVE_BLINDED = (
    "**Fenómeno.** Lorem ipsum.\n\n**Análisis.** Dolor sit.\n\n**Teoría.** Amet elit.\n\n"
    "**Mundo.** Sed do.\n"
)
BARE = "La OMS publica la cifra; la ONU, no. Hay que llamar al notario el lunes.\n"


@pytest.mark.parametrize(
    ("text", "language", "wanted", "left"),
    [
        (LIST, "ca", LIST_BLINDED, ["OBJ"]),
        (DIALECTICAL, "en", DIALECTICAL_BLINDED, ["MIT"]),
        (NAIVE, "es", NAIVE_BLINDED, []),
        (BARE, "es", BARE, []),
    ],
    ids=["list", "dialectical", "naive", "bare"],
)
def test_whole_texts(text: str, language: str, wanted: str, left: list[str]) -> None:
    proposal = blinding.blind(text, language=language)
    assert proposal.text == wanted
    assert [finding.text for finding in proposal.unsafe] == left
    assert proposal.safe == (not left)
    if text != NAIVE:  # the language of the others is seen without being told
        assert blinding.blind(text) == proposal


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The letter and the bill are not the same to her.", "en"),
        ("Cal que ho digui aquesta tarda, perquè més endavant ja no hi serà.", "ca"),
        ("Hay que decirlo esta tarde, porque más tarde ya no estará con nosotros.", "es"),
        ("Lorem ipsum dolor sit amet.", ""),
        ("La lettre et la facture ne sont pas la même chose.", ""),
        ("", ""),
    ],
)
def test_language_of_a_text(text: str, language: str) -> None:
    assert wording.language_of(text) == language


def test_a_code_in_a_language_that_is_not_clear_is_left_to_a_person() -> None:
    assert [f.suggestion for f in blinding.find("TEO, PRA.")] == [None, None]


def test_the_published_examples() -> None:
    if not EXAMPLES.is_dir():
        pytest.skip("the published examples are not at hand")
    left = {}
    for path in sorted(EXAMPLES.glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        proposal = blinding.blind(text, language="en")
        left[path.stem] = [finding.text for finding in proposal.unsafe]
        for kept in ("WHO", "OECD", "ETSC"):
            assert proposal.text.count(kept) == text.count(kept)
        # No code and no arrow is left but what is held; no hole, no orphaned dash or bracket.
        held = {finding.text for finding in proposal.unsafe if finding.kind == "code"}
        assert set(wording.split(proposal.text)) == held
        assert not re.search(
            rf"[{wording.ARROWS}]|\(\s*\)|[ ]{{2}}|[ ][.,;]|\*\*\s*[—–]", proposal.text
        )
        assert proposal.text.count("\n\n") == text.count("\n\n")
    assert left == {
        "adversarial-fluent": [],
        "adversarial-naive": [],
        "q1-bare": [],
        "q1-dialectical": ["MON"],
        "q1-list": ["OBJ", "CIE", "MON", "Structural completeness"],
    }
