"""The guards on panels, ratings and reports (see `dilemmas.guards` for what a guard is)."""

from dilemmas.guards import Guard, append_only

_STEPS = (("draft", "frozen"), ("frozen", "open"), ("open", "closed"), ("closed", "published"))
_ALLOWED_STEP = " OR ".join(
    f"(OLD.state = '{before}' AND NEW.state = '{after}')" for before, after in _STEPS
)
_PANEL_OF_SLOT = (
    "SELECT 1 FROM ratings_slot s JOIN ratings_batch b ON b.id = s.batch_id "
    "JOIN ratings_judge j ON j.id = b.judge_id JOIN ratings_panel p ON p.id = j.panel_id "
)


def ratings_guards() -> list[Guard]:
    """Every guard on the tables of `ratings`."""
    guards: list[Guard] = []
    for table in (
        "ratings_submission",
        "ratings_rating",
        "ratings_draftcheckpoint",
        "ratings_flag",
        "ratings_evidence",
        "ratings_guess",
        "ratings_clarification",
        "ratings_clarificationreading",
        "ratings_consent",
        "ratings_auditevent",
        "ratings_report",
        "ratings_publication",
        "ratings_freeze",
        "ratings_slot",
        "ratings_flagreply",
        "ratings_reopening",
        "ratings_withdrawal",
        "ratings_replacement",
        "ratings_reminderrule",
        "ratings_case",
        "ratings_decision",
    ):
        guards += append_only(table)
    return (
        guards
        + _panel_guards()
        + _people_guards()
        + _serving_guards()
        + _rating_guards()
        + _resolving_guards()
    )


def _panel_guards() -> list[Guard]:
    not_draft = (
        "EXISTS (SELECT 1 FROM ratings_panel p WHERE p.id = {row}.panel_id AND p.state <> 'draft')"
    )
    protocol = "the protocol is frozen"
    return [
        Guard(
            "ratings_panel_state",
            "ratings_panel",
            "UPDATE",
            f"NEW.state <> OLD.state AND NOT ({_ALLOWED_STEP})",
            "a panel only moves forward, one state at a time",
        ),
        Guard(
            "ratings_panel_first",
            "ratings_panel",
            "INSERT",
            "NOT (NEW.state = 'draft' OR (NEW.origin = 'imported' AND NEW.state = 'open'))",
            "a panel starts as a draft",
        ),
        Guard(
            "ratings_panel_freeze",
            "ratings_panel",
            "UPDATE",
            "OLD.state = 'draft' AND NEW.state = 'frozen' AND NOT EXISTS "
            "(SELECT 1 FROM ratings_freeze f WHERE f.panel_id = NEW.id)",
            "a panel is frozen with its manifest",
        ),
        Guard(
            "ratings_panel_publish",
            "ratings_panel",
            "UPDATE",
            "OLD.state = 'closed' AND NEW.state = 'published' AND NOT EXISTS "
            "(SELECT 1 FROM ratings_publication q WHERE q.panel_id = NEW.id)",
            "a panel is published with its publication",
        ),
        Guard(
            "ratings_panel_fixed",
            "ratings_panel",
            "UPDATE",
            "NEW.origin <> OLD.origin OR NEW.slug <> OLD.slug OR (OLD.state <> 'draft' AND ("
            "NEW.response_set_id <> OLD.response_set_id "
            "OR NEW.rubric_version_id <> OLD.rubric_version_id "
            "OR NEW.content_language <> OLD.content_language OR NEW.title <> OLD.title))",
            "what a panel is about is fixed",
        ),
        Guard("ratings_panel_kept", "ratings_panel", "DELETE", "1 = 1", "a panel is never deleted"),
        Guard(
            "ratings_protocol_frozen",
            "ratings_protocol",
            "INSERT",
            not_draft.format(row="NEW"),
            protocol,
        ),
        Guard(
            "ratings_protocol_frozen",
            "ratings_protocol",
            "UPDATE",
            f"{not_draft.format(row='OLD')} OR NEW.panel_id <> OLD.panel_id",
            protocol,
        ),
        Guard(
            "ratings_protocol_frozen",
            "ratings_protocol",
            "DELETE",
            not_draft.format(row="OLD"),
            protocol,
        ),
        Guard(
            "ratings_report_over",
            "ratings_report",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM ratings_panel p WHERE p.id = NEW.panel_id "
            "AND p.state IN ('closed', 'published'))",
            "no report before closing",
        ),
        Guard(
            "ratings_publication_kind",
            "ratings_publication",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM ratings_report r JOIN ratings_panel p ON p.id = r.panel_id "
            "WHERE r.id = NEW.report_id AND p.id = NEW.panel_id AND p.state = 'closed' AND ("
            "(NEW.kind = 'v1' AND r.verdict = 'met' AND p.origin = 'native') "
            "OR (NEW.kind = 'missed_gate' AND r.verdict IN ('not_met', 'undecidable') "
            "AND p.origin = 'native') "
            "OR (NEW.kind = 'not_registered' AND p.origin = 'imported')))",
            "this verdict cannot be published so",
        ),
    ]


def _people_guards() -> list[Guard]:
    has_seat = (
        "EXISTS (SELECT 1 FROM ratings_judge j "
        "WHERE j.panel_id = NEW.panel_id AND j.user_id = NEW.user_id)"
    )
    return (
        [
            Guard(
                "ratings_membership_apart",
                "ratings_membership",
                event,
                f"NEW.role <> 'judge' AND {has_seat}",
                "nobody is judge and something else in one panel",
            )
            for event in ("INSERT", "UPDATE")
        ]
        + [
            Guard(
                "ratings_judge_apart",
                "ratings_judge",
                event,
                "NEW.user_id IS NOT NULL AND EXISTS (SELECT 1 FROM ratings_membership m "
                "WHERE m.panel_id = NEW.panel_id AND m.user_id = NEW.user_id AND m.role <> 'judge')",
                "nobody is judge and something else in one panel",
            )
            for event in ("INSERT", "UPDATE")
        ]
        + [
            Guard(
                "ratings_judge_kept", "ratings_judge", "DELETE", "1 = 1", "a judge is never deleted"
            ),
            Guard(
                "ratings_judge_fixed",
                "ratings_judge",
                "UPDATE",
                "NEW.panel_id <> OLD.panel_id OR NEW.code <> OLD.code",
                "a judge keeps panel and code",
            ),
        ]
    )


def _serving_guards() -> list[Guard]:
    return [
        Guard(
            "ratings_batch_fixed",
            "ratings_batch",
            "UPDATE",
            "NEW.judge_id <> OLD.judge_id OR NEW.number <> OLD.number OR NEW.code <> OLD.code "
            "OR NEW.phase <> OLD.phase OR NEW.rubric_version_id <> OLD.rubric_version_id "
            "OR NEW.order_seed <> OLD.order_seed OR NEW.algorithm <> OLD.algorithm "
            "OR OLD.handed_in_at IS NOT NULL",
            "a batch is fixed; handing in happens once",
        ),
        Guard("ratings_batch_kept", "ratings_batch", "DELETE", "1 = 1", "a batch is never deleted"),
        Guard(
            "ratings_slot_consistent",
            "ratings_slot",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM ratings_batch b JOIN ratings_judge j ON j.id = b.judge_id "
            "JOIN ratings_panel p ON p.id = j.panel_id "
            "JOIN dilemmas_blinding d ON d.id = NEW.blinding_id "
            "JOIN dilemmas_responseversion v ON v.id = d.version_id "
            "WHERE b.id = NEW.batch_id AND b.judge_id = NEW.judge_id "
            "AND v.response_id = NEW.response_id AND d.sealed_at IS NOT NULL "
            "AND p.state = 'open')",
            "a slot serves a sealed text of its response, to its judge, in an open panel",
        ),
    ]


def _rating_guards() -> list[Guard]:
    # A response that was opened again may be written to until it is marked done once more.
    reopened = (
        "EXISTS (SELECT 1 FROM ratings_reopening r WHERE r.slot_id = NEW.slot_id AND "
        "r.after_number >= (SELECT COALESCE(MAX(u.number), 0) FROM ratings_submission u "
        "WHERE u.slot_id = NEW.slot_id))"
    )
    writable = (
        f"EXISTS ({_PANEL_OF_SLOT} WHERE s.id = NEW.slot_id AND p.state = 'open' "  # noqa: S608
        f"AND (b.handed_in_at IS NULL OR {reopened}) AND j.withdrawn_at IS NULL "
        "AND NOT EXISTS (SELECT 1 FROM ratings_withdrawal w WHERE w.panel_id = p.id "
        "AND w.response_id = s.response_id))"
    )
    message = "the panel is not open, or the batch is handed in"
    open_panel = (
        "NOT EXISTS (SELECT 1 FROM ratings_panel p WHERE p.id = NEW.panel_id AND p.state = 'open')"
    )
    return (
        [
            Guard(
                "ratings_withdrawal_open",
                "ratings_withdrawal",
                "INSERT",
                open_panel,
                "responses are taken out while the panel is open, before anybody sees a score",
            ),
            Guard(
                "ratings_reopening_open",
                "ratings_reopening",
                "INSERT",
                f"NOT EXISTS ({_PANEL_OF_SLOT} WHERE s.id = NEW.slot_id AND p.state = 'open')",
                "a response is opened again while the panel is open",
            ),
        ]
        + [
            Guard(f"{table}_open", table, event, f"NOT {writable}", message)
            for table, event in (
                ("ratings_submission", "INSERT"),
                ("ratings_draft", "INSERT"),
                ("ratings_draft", "UPDATE"),
                ("ratings_draftcheckpoint", "INSERT"),
            )
        ]
        + [
            Guard(
                "ratings_draft_kept", "ratings_draft", "DELETE", "1 = 1", "a draft is never deleted"
            ),
            Guard(
                "ratings_draft_forward",
                "ratings_draft",
                "UPDATE",
                "NEW.slot_id <> OLD.slot_id OR NEW.version < OLD.version",
                "a draft only moves forward",
            ),
            Guard(
                "ratings_rating_scale",
                "ratings_rating",
                "INSERT",
                "NEW.score IS NOT NULL AND NOT EXISTS (SELECT 1 FROM dilemmas_level l "
                "WHERE l.criterion_id = NEW.criterion_id AND l.value = NEW.score)",
                "the score is not a level of the criterion",
            ),
            Guard(
                "ratings_rating_open",
                "ratings_rating",
                "INSERT",
                "NOT EXISTS (SELECT 1 FROM ratings_submission u JOIN ratings_slot s ON s.id = u.slot_id "
                "JOIN ratings_batch b ON b.id = s.batch_id JOIN ratings_judge j ON j.id = b.judge_id "
                "JOIN ratings_panel p ON p.id = j.panel_id "
                "JOIN dilemmas_criterion c ON c.version_id = b.rubric_version_id "
                "WHERE u.id = NEW.submission_id AND c.id = NEW.criterion_id AND p.state = 'open')",
                "the panel is not open, or the criterion is not of its rubric",
            ),
            Guard(
                "ratings_guess_after",
                "ratings_guess",
                "INSERT",
                "EXISTS (SELECT 1 FROM ratings_batch b JOIN ratings_slot s ON s.judge_id = b.judge_id "
                "WHERE s.id = NEW.slot_id AND b.handed_in_at IS NULL)",
                "conditions are guessed after the last batch is handed in",
            ),
        ]
    )


def _resolving_guards() -> list[Guard]:
    return [
        Guard(
            "ratings_case_over",
            "ratings_case",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM ratings_panel p JOIN dilemmas_criterion c "
            "ON c.version_id = p.rubric_version_id JOIN dilemmas_response r "
            "ON r.response_set_id = p.response_set_id WHERE p.id = NEW.panel_id "
            "AND c.id = NEW.criterion_id AND r.id = NEW.response_id "
            "AND p.state IN ('closed', 'published'))",
            "a case is about what the panel judged, after closing",
        ),
        Guard(
            "ratings_decision_level",
            "ratings_decision",
            "INSERT",
            "NEW.score IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ratings_case k "
            "JOIN dilemmas_level l ON l.criterion_id = k.criterion_id "
            "WHERE k.id = NEW.case_id AND l.value = NEW.score)",
            "a decision is a level of its criterion",
        ),
    ]
