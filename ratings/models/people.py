"""Who may do what in a panel: memberships, invitations, judges and their consent."""

from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models

from awb_panel.accounts.models import User
from ratings.models.panels import Panel


class Role(models.TextChoices):
    COORDINATOR = "coordinator"
    OBSERVER = "observer"
    JUDGE = "judge"
    ADJUDICATOR = "adjudicator"


class Membership(models.Model):
    """One role per person and panel: nobody is judge and coordinator of the same panel."""

    panel = models.ForeignKey(Panel, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships"
    )
    role = models.CharField(max_length=12, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("panel", "user"), name="one_role_per_person_and_panel"),
            models.CheckConstraint(
                condition=models.Q(role__in=("coordinator", "observer", "judge", "adjudicator")),
                name="known_role",
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def usable(self, *, at: datetime) -> "InvitationQuerySet":
        """Invitations whose link still opens the door, accepted ones included."""
        return self.filter(revoked_at=None, declined_at=None).filter(
            models.Q(expires_at__gt=at) | models.Q(accepted_at__isnull=False)
        )


class Invitation(models.Model):
    """A personal link, kept as a hash only; accepted once, by a POST."""

    panel = models.ForeignKey(Panel, on_delete=models.PROTECT, related_name="invitations")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=12, choices=Role, default=Role.JUDGE)
    profession = models.CharField(max_length=100, blank=True)
    greeting = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=5, default="ca")
    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    declined_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects: ClassVar[InvitationQuerySet] = InvitationQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("created_at", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("panel", "email"),
                condition=models.Q(revoked_at=None, declined_at=None),
                name="one_live_invitation_per_address",
            ),
        )

    def __str__(self) -> str:
        return self.email


class JudgeQuerySet(models.QuerySet["Judge"]):
    def for_user(self, user: User) -> "JudgeQuerySet":
        return self.filter(user=user)

    def active(self) -> "JudgeQuerySet":
        return self.filter(withdrawn_at=None)


class Judge(models.Model):
    """A seat in a panel. Not the person: imported raters and erased people have no account."""

    panel = models.ForeignKey(Panel, on_delete=models.PROTECT, related_name="judges")
    code = models.CharField(max_length=100)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="judges"
    )
    profession = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True)

    objects: ClassVar[JudgeQuerySet] = JudgeQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("panel", "id")
        constraints = (
            models.UniqueConstraint(fields=("panel", "code"), name="one_judge_per_code"),
            models.UniqueConstraint(
                fields=("panel", "user"),
                condition=models.Q(user__isnull=False),
                name="one_seat_per_person_and_panel",
            ),
        )

    def __str__(self) -> str:
        return self.code


class Consent(models.Model):
    """What a judge agreed to and declared, word for word; append-only."""

    class Exposure(models.TextChoices):
        NO = "no"
        SOME = "some"
        YES = "yes"

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="consents")
    version = models.CharField(max_length=20)
    language = models.CharField(max_length=5)
    conflicts = models.TextField(blank=True)
    exposure = models.CharField(max_length=5, choices=Exposure)
    at = models.DateTimeField()

    class Meta:
        ordering = ("at", "id")

    def __str__(self) -> str:
        return f"{self.judge_id} {self.version}"
