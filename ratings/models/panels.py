"""A panel: one study from draft to publication, its protocol and its freeze."""

from typing import ClassVar

from django.db import models

from awb_panel.accounts.models import User
from dilemmas.models import ResponseSet, RubricVersion


class PanelQuerySet(models.QuerySet["Panel"]):
    def for_member(self, user: User, *roles: str) -> "PanelQuerySet":
        """Panels in which the person has one of the roles (any role if none is named)."""
        if not roles:
            return self.filter(memberships__user=user)
        # one filter: two would be met by two people's memberships
        return self.filter(memberships__user=user, memberships__role__in=roles)

    def published(self) -> "PanelQuerySet":
        return self.filter(state=Panel.State.PUBLISHED)


class Panel(models.Model):
    """One study. Its state changes only through `ratings.services.panels`, and only forward."""

    class State(models.TextChoices):
        DRAFT = "draft"
        FROZEN = "frozen"
        OPEN = "open"
        CLOSED = "closed"
        PUBLISHED = "published"

    class Origin(models.TextChoices):
        NATIVE = "native"
        IMPORTED = "imported"

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.NATIVE)
    is_demo = models.BooleanField(default=False)
    content_language = models.CharField(max_length=16)
    response_set = models.ForeignKey(ResponseSet, on_delete=models.PROTECT, related_name="+")
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    objects: ClassVar[PanelQuerySet] = PanelQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (
            models.CheckConstraint(
                condition=models.Q(state__in=("draft", "frozen", "open", "closed", "published")),
                name="known_panel_state",
            ),
            models.CheckConstraint(
                condition=models.Q(origin__in=("native", "imported")), name="known_panel_origin"
            ),
        )

    def __str__(self) -> str:
        return self.title

    @property
    def is_over(self) -> bool:
        """Scores may be seen by those who run and check the panel."""
        return self.state in (self.State.CLOSED, self.State.PUBLISHED)

    @property
    def display(self) -> str:
        """How the protocol shows responses: `shown` with their Markdown, or `flattened`."""
        document = self.protocol.document if self.origin == self.Origin.NATIVE else {}
        return str(document.get("markdown", "shown"))


class Protocol(models.Model):
    """Every choice made before the first rating, as one JSON document; immutable once frozen.

    Keys and defaults: `ratings.services.protocols`.
    """

    panel = models.OneToOneField(Panel, on_delete=models.PROTECT, related_name="protocol")
    document = models.JSONField(default=dict)
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"protocol of {self.panel_id}"


class Freeze(models.Model):
    """What was fixed, and its SHA-256. The salt of the condition key is revealed only later."""

    panel = models.OneToOneField(Panel, on_delete=models.PROTECT, related_name="freeze")
    manifest = models.TextField()  # canonical JSON (RFC 8785) of part hashes
    sha256 = models.CharField(max_length=64)
    key_salt = models.CharField(max_length=64)
    at = models.DateTimeField()
    actor = models.CharField(max_length=32)

    def __str__(self) -> str:
        return self.sha256
