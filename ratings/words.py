"""Sentences for codes: what a refusal, an obstacle, a reason or a state is called for people."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from ratings.services.errors import Refused

TAKING_BACK = {
    "sealed": lazy("A panel was frozen with it: it is sealed, and stays as it was."),
    "confirmed": lazy("A second person has confirmed decisions on its texts: they stay."),
    "has_responses": lazy("There are responses to these dilemmas: take those back first."),
    "rubric_in_use": lazy("A panel is judged with it: choose another rubric there first."),
}

REFUSALS = {
    "panel_is_frozen": lazy("The panel is frozen: this can no longer be changed."),
    "panel_not_frozen": lazy("The panel is not frozen. Freeze it first."),
    "panel_not_open": lazy("The panel is not open: nothing more can be written."),
    "panel_not_closed": lazy("The panel is not closed yet."),
    "panel_is_over": lazy("The panel is closed: nobody can join it."),
    "judge_withdrawn": lazy("You have left this panel. What you handed in is kept."),
    "batch_handed_in": lazy("This batch is handed in: it can be read, and no longer changed."),
    "batch_incomplete": lazy("The batch cannot be handed in yet: some responses are not done."),
    "obstacles": lazy("Something is missing before the panel can be frozen."),
    "slug_taken": lazy("There is another panel with this address. Choose another one."),
    "protocol_unknown_key": lazy("The protocol has a field that is not known."),
    "protocol_unknown_policy": lazy("Choose one of the rules."),
    "protocol_unknown_rationales": lazy("Choose how many reasons are asked for."),
    "protocol_unknown_order": lazy("Choose one of the orders."),
    "protocol_judges_per_response": lazy(
        "Judges for each response: at least two, and no more than are planned."
    ),
    "protocol_repeats": lazy("Responses served twice: 0 to 50."),
    "protocol_unknown_markdown": lazy("Choose how responses are shown."),
    "protocol_too_long": lazy("One of the answers is too long: 4,000 characters at most."),
    "deposit_not_now": lazy("Freeze the panel first: then there is something to deposit."),
    "planning_not_now": lazy("The protocol is frozen: nothing is attached to it any more."),
    "no_policy_yet": lazy("Choose and save the requirement for publication first."),
    "shares_do_not_fit": lazy("Give one share for each level, adding up to 1."),
    "nothing_to_plan": lazy("Import responses to two dilemmas or more first."),
    "protocol_out_of_range": lazy("Judges: 2 to 300. Batch: 1 to 200 responses."),
    "no_report": lazy("There is no report yet. Compute it first."),
    "newer_report": lazy("There is a newer report already. Look at it first."),
    "gate_not_met": lazy(
        "The requirement is not met, and the protocol did not say that a miss may be shown."
    ),
    "invitation_over": lazy("This invitation is no longer valid. Ask for a new one."),
    "invitation_declined": lazy("This person has said no, and was promised not to be asked again."),
    "invitation_used": lazy("This invitation was accepted already."),
    "already_invited": lazy(
        "An invitation to this address is waiting for an answer. To send another link, withdraw it "
        "in the list first."
    ),
    "already_accepted": lazy("This person has accepted an invitation already."),
    "already_member": lazy("This person already has a role in this panel."),
    "knows_the_conditions": lazy(
        "This person can see the conditions of these responses, so cannot judge them."
    ),
    "response_taken_out": lazy(
        "This response was taken out of the panel: nobody rates it any more."
    ),
    "judge_is_here": lazy("This judge has not left."),
    "seat_is_taken": lazy("Somebody has taken this seat meanwhile: it cannot be given back."),
    "batch_is_open": lazy("Its batch is not handed in: the judge can still change it."),
    "open_again_already": lazy("This response is open again already."),
    "reason_needed": lazy("Write a reason."),
    "owner_stays": lazy(
        "This is the installation's owner: make another one with createowner first."
    ),
    "only_coordinator": lazy(
        "This person is the only coordinator of a panel: invite another one first."
    ),
    "unknown_act": lazy("Choose one of the buttons on the page."),
    "unknown_response": lazy("This response is none of the panel's."),
    "answer_needed": lazy("Write an answer."),
    "judge_has_finished": lazy("This judge has handed everything in."),
    "at_most_weekly": lazy("Choose between 7 and 60 days, or 0 for never."),
    "reminded_lately": lazy("This judge was reminded in the last seven days."),
    "judge_has_left": lazy("This judge has left the panel."),
    "practice_first": lazy("The practice round comes first. The study begins after it."),
    "judges_these_responses": lazy(
        "This person judges these responses in a panel, so cannot see their conditions."
    ),
    "nothing_to_guess": lazy("There is nothing to answer here, or it was answered already."),
    "unknown_condition": lazy("Choose one of the answers on the page."),
    "unknown_reason": lazy("Choose one of the reasons."),
    "not_a_level": lazy("Choose one of the levels."),
    "protocol_adjudication": lazy("Differences are resolved from a number above 0."),
    "no_adjudication_registered": lazy(
        "The protocol registered no rule for resolving differences, and none can be added now."
    ),
    "cases_are_drawn": lazy("The cases are given out already."),
    "no_adjudicator": lazy("Only an adjudicator of this panel decides."),
    "archive_not_now": lazy("A panel is put away once it is closed."),
}

OBSTACLES = {
    "no_responses": lazy("The set has no responses."),
    "blinding_undecided": lazy("Some texts may tell their condition: decide on each of them."),
    "blinding_unconfirmed": lazy(
        "Some decisions on texts wait for a second person, as the protocol says."
    ),
    "blinding_missing": lazy("Some responses have no text for judges."),
    "empty_responses": lazy("Some responses are empty."),
    "no_policy": lazy("The protocol has no publication requirement yet."),
    "levels_without_text": lazy(
        "Some levels of the rubric are not written out in the panel's language."
    ),
    "rubric_incomplete": lazy(
        "The rubric has no criteria, or some of them have fewer than two levels."
    ),
    "criteria_not_shown": lazy(
        "Some criteria are of a kind, or of a part, that the rating page cannot show yet."
    ),
    "responses_in_another_language": lazy(
        "Some responses are in another language than the panel's, as their file says. Make the "
        "panel in their language, or import the responses again with the right one."
    ),
    "practice_on_judged_dilemmas": lazy(
        "Some dilemmas are practised on and judged: judges would know them already. Import practice "
        "responses to other dilemmas."
    ),
    "dilemmas_without_text": lazy("Some dilemmas have no text in the panel's language."),
}

# why a rubric's version cannot be changed
SEALED_RUBRIC = lazy(
    "This version is sealed by a frozen panel: nobody can change it. If a wording is unclear, say "
    "it to all judges as a clarification, which is dated. A change of what a criterion or a level "
    "means is refused, because scores given before it would mean something else: make a new "
    "version, and a new panel with it."
)
RUBRIC_OF_OTHERS = lazy(
    "A panel that you do not coordinate uses this version, and would change with it. Make a new "
    "version from it."
)

# what was decided on a text
BLINDING = {
    "held": lazy("waits for a decision"),
    "clean": lazy("nothing found"),
    "edited": lazy("edited"),
    "accepted": lazy("accepted as it stands"),
    "held_back": lazy("held back"),
}

# what blinding looks for in a text
FINDINGS = {
    "ambiguous": lazy("may be a code or a word"),
    "axis": lazy("axis of the scaffold"),
    "code": lazy("code of the scaffold"),
    "condition": lazy("name of a condition"),
    "header": lazy("heading of the scaffold"),
    "model": lazy("name of a model"),
    "name": lazy("name of a product or company"),
    "path": lazy("path of the scaffold"),
    "self": lazy("the system speaks of itself"),
}

# what is measured of an order (`ratings.design.balance`)
BALANCE = {
    "rounds": lazy("A condition in a round: as the first, the second, … of a dilemma"),
    "places": lazy("A condition at a place of a mini-block"),
    "neighbours": lazy("A condition after another, within a dilemma"),
    "followers": lazy("A condition after another, as served"),
    "repeated": lazy("A condition after itself, as served"),
    "gap": lazy("From a response to the next one of its dilemma, in slots, at least"),
    "coincidences": lazy("Two judges with one condition at the same slot"),
    "load": lazy("Dilemmas of a judge"),
    "conditions": lazy("Responses of one condition that a judge reads"),
    "shared": lazy("Dilemmas that two judges have in common"),
}

REASONS = {
    "knowledge": lazy("I lack the knowledge of the subject to decide"),
    "unreadable": lazy("I cannot understand the text, or it is incomplete"),
    "not_applicable": lazy("The criterion cannot be applied to this text"),
    "between": lazy("I hesitate between two levels and cannot choose"),
    "personal": lazy("I would rather not rate this case, for personal reasons"),
    "other": lazy("Another reason (say which)"),
}

WHYS = {
    "codes": lazy("Codes or names in the text"),
    "layout": lazy("The layout: headings, lists, length"),
    "wording": lazy("The wording"),
    "quality": lazy("How good it is"),
    "other": lazy("Something else"),
}

FLAGS = {
    "recognised": lazy("I think I recognise where this text comes from"),
    "damaged": lazy("The text is damaged: parts are missing or characters are wrong"),
    "doubtful_fact": lazy("A fact or a quotation looks invented to me"),
    "conflict": lazy("I have a conflict of interest with this case"),
    "attention": lazy("Somebody should look at this"),
}

FLAG_STATES = {
    "open": lazy("waits"),
    "looking": lazy("somebody looks at it"),
    "answered": lazy("answered"),
    "settled": lazy("settled"),
}

GAPS = {
    "score": lazy('Choose a level, or "I cannot judge this".'),
    "rationale": lazy("Write the reason; one sentence is enough."),
    "one_rationale": lazy("Write the reason for one of the criteria, whichever you like."),
    "reason": lazy("Say why you cannot judge it."),
    "note": lazy("Write in the comment what the other reason is."),
}

# What the saving script says; it reads them from the page, so that it needs no catalogue.
SAVING = {
    "idle": lazy("Nothing written yet"),
    "saving": lazy("Saving…"),
    "saved": lazy("Saved"),
    "recovered": lazy("Everything is saved again"),
    "offline": lazy(
        "Not saved: there is no connection. Your text is kept on this device and will be saved "
        "when the connection returns. You can go on writing."
    ),
    "server": lazy(
        "Not saved: the server is not answering. Your text is kept on this device and we will try "
        "again every few seconds. You can go on writing."
    ),
    "nowhere": lazy(
        "Not saved, and this browser does not let us keep the text. Do not close the page."
    ),
    "signed-out": lazy(
        "You have been signed out. What you wrote is kept on this page and on this device. Sign in "
        "and you will be exactly where you were."
    ),
    "signed-out-unkept": lazy(
        "You have been signed out. Copy the text before you sign in: this browser does not let us "
        "keep it."
    ),
    "other": lazy(
        "Somebody else is now signed in on this browser. The text on this page has not been sent. "
        "It will be saved when you sign in to your account again."
    ),
    "foreign": lazy(
        "This browser holds unsent text of somebody else. It is not shown and will not be saved "
        "under your name."
    ),
    "restored": lazy("Text that was kept on this device is back on the page."),
    "conflict": lazy(
        "There are two versions of this reason. Nothing is lost: choose the one that should count."
    ),
}

# kinds of files, and of the columns in them
FORMATS = {
    "dilemmas": lazy("Dilemmas"),
    "responses": lazy("Responses"),
    "rubric": lazy("Rubric"),
    "judgements": lazy("Scores by a model judge"),
    "study": lazy("A study rated elsewhere: items"),
    "study_ratings": lazy("A study rated elsewhere: ratings"),
    "study_judgements": lazy("A study rated elsewhere: scores by model judges"),
}
COLUMN_KINDS = {
    "label": lazy("label"),
    "text": lazy("text"),
    "whole": lazy("whole"),
    "number": lazy("number"),
    "names": lazy("names"),
    "by_language": lazy("text by language"),
    "list": lazy("list"),
    "object": lazy("object"),
    "boolean": lazy("true, false"),
}

ROLES = {
    "judge": lazy("Judge"),
    "observer": lazy("Observer"),
    "adjudicator": lazy("Adjudicator"),
    "coordinator": lazy("Coordinator"),
}

STATES = {
    "draft": lazy("Draft"),
    "frozen": lazy("Frozen"),
    "open": lazy("Open"),
    "closed": lazy("Closed"),
    "published": lazy("Published"),
}

EVENTS = {
    "panel_created": lazy("panel created"),
    "registration_deposited": lazy("registration deposited"),
    "protocol_written": lazy("protocol written"),
    "rubric_chosen": lazy("rubric chosen"),
    "panel_frozen": lazy("panel frozen"),
    "panel_opened": lazy("panel opened"),
    "panel_closed": lazy("panel closed"),
    "panel_published": lazy("result published"),
    "report_computed": lazy("report computed"),
    "study_imported": lazy("study imported"),
    "invited": lazy("invitation sent"),
    "invitation_accepted": lazy("invitation accepted"),
    "invitation_declined": lazy("invitation declined"),
    "invitation_revoked": lazy("invitation withdrawn"),
    "judge_assigned": lazy("judge given batches"),
    "judge_consented": lazy("judge consented"),
    "response_done": lazy("response done"),
    "batch_handed_in": lazy("batch handed in"),
    "clarified": lazy("clarification to all judges"),
    "person_erased": lazy("person erased"),
    "judge_left": lazy("judge left"),
    "judge_came_back": lazy("judge came back"),
    "judge_reminded": lazy("judge reminded"),
    "reminder_rule_set": lazy("reminders by rule changed"),
    "response_reopened": lazy("response opened again"),
    "response_taken_out": lazy("response taken out"),
    "flag_answered": lazy("note answered"),
    "cases_drawn": lazy("differences given to adjudicators"),
    "case_decided": lazy("difference resolved"),
    "panel_archived": lazy("panel put away"),
    "panel_taken_back": lazy("panel taken back"),
    "conditions_guessed": lazy("guesses of the conditions"),
    "flagged": lazy("note to the coordinator"),
}

MARKDOWN = {
    "shown": lazy("as they were written, with headings, bold type and lists"),
    "flattened": lazy("flattened to plain paragraphs"),
}
RATIONALES = {
    "one": lazy(
        "One a response, on a criterion of the judge's choice, and all on one drawn response per "
        "dilemma"
    ),
    "all": lazy("All"),
    "none": lazy("None"),
}


def said(words: Mapping[str, object]) -> dict[str, str]:
    """Return words in the language of now, looked up once however often a page says them."""
    return {key: str(word) for key, word in words.items()}


def sentence(refused: Refused) -> str:
    """Return a refusal as a person reads it."""
    known = REFUSALS.get(refused.code)
    return str(known) if known else _("This is not possible now.")
