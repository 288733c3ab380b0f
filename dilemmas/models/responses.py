"""Responses: what a system answered under a condition, kept raw and blinded, in parts."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from dilemmas.models.content import Collection, Dilemma


class ResponseSet(models.Model):
    """Responses that are judged together. Seen by its uploader and by coordinators of its panels."""

    name = models.CharField(max_length=100, unique=True)
    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="sets")
    uploader = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class ConditionQuerySet(models.QuerySet["Condition"]):
    def judged(self, response_set: "ResponseSet") -> "ConditionQuerySet":
        """The conditions that are compared: those of controls and of practice are not."""
        responses = self.model._meta.apps.get_model("dilemmas", "Response").objects.filter(
            response_set=response_set, kind="response"
        )
        return self.filter(response_set=response_set, pk__in=responses.values("condition"))


class Condition(models.Model):
    """A way of producing a response. Secret from judges: no judge view may load this."""

    response_set = models.ForeignKey(
        ResponseSet, on_delete=models.PROTECT, related_name="conditions"
    )
    label = models.CharField(max_length=200)

    objects: ClassVar[ConditionQuerySet] = ConditionQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("label",)
        constraints = (
            models.UniqueConstraint(
                fields=("response_set", "label"), name="one_condition_per_label"
            ),
        )

    def __str__(self) -> str:
        return self.label


class ResponseQuerySet(models.QuerySet["Response"]):
    def kept(self) -> "ResponseQuerySet":
        """Those that nobody has held back: what a panel on them serves and counts."""
        own = models.OuterRef("version__response")
        later = models.Q(version__number__gt=models.OuterRef("version__number")) | models.Q(
            version=models.OuterRef("version"), number__gt=models.OuterRef("number")
        )
        changed = Blinding.objects.filter(later, version__response=own)
        held_back = Blinding.objects.filter(~models.Exists(changed), state=Blinding.State.HELD_BACK)
        return self.exclude(pk__in=held_back.values("version__response"))


class Response(models.Model):
    """A response's identity: set, dilemma, condition, generator, replicate; or its imported id."""

    class Kind(models.TextChoices):
        RESPONSE = "response"
        CONTROL = "control"
        PRACTICE = "practice"

    response_set = models.ForeignKey(
        ResponseSet, on_delete=models.PROTECT, related_name="responses"
    )
    dilemma = models.ForeignKey(Dilemma, on_delete=models.PROTECT, related_name="responses")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="responses")
    generator = models.CharField(max_length=200, blank=True)
    replicate = models.PositiveIntegerField(default=1)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.RESPONSE)
    external_id = models.CharField(max_length=300, blank=True)
    cluster = models.CharField(max_length=300, blank=True)  # coarser than the dilemma, if given
    latency_s = models.FloatField(null=True)
    cost = models.FloatField(null=True)

    objects: ClassVar[models.Manager["Response"]] = ResponseQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("response_set", "dilemma", "condition", "generator", "replicate"),
                condition=models.Q(external_id=""),
                name="one_response_per_key",
            ),
            models.UniqueConstraint(
                fields=("response_set", "external_id"),
                condition=~models.Q(external_id=""),
                name="one_response_per_imported_id",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=("response", "control", "practice")),
                name="known_response_kind",
            ),
        )

    def __str__(self) -> str:
        return self.external_id or str(self.pk)


class ResponseVersion(models.Model):
    """The raw text as imported. A changed text is a new version, never an overwritten one."""

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    language = models.CharField(max_length=16, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    sealed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("response", "number")
        constraints = (
            models.UniqueConstraint(fields=("response", "number"), name="one_response_version"),
        )

    def __str__(self) -> str:
        return f"{self.response_id}.{self.number}"


class ResponsePart(models.Model):
    """The raw text that answers one stage; a plain response has part 1 only."""

    version = models.ForeignKey(ResponseVersion, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveSmallIntegerField(default=1)
    raw = models.TextField(blank=True)
    extra = models.JSONField(default=dict, blank=True)  # the file's other columns, as they were

    class Meta:
        ordering = ("version", "number")
        constraints = (
            models.UniqueConstraint(fields=("version", "number"), name="one_response_part"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="parts_count_from_one"),
        )

    def __str__(self) -> str:
        return f"{self.version_id}/{self.number}"


class BlindingQuerySet(models.QuerySet["Blinding"]):
    def newest_in(self, response_set: ResponseSet) -> "BlindingQuerySet":
        """The newest blinding of the newest version of each response of the set."""
        # No later one, rather than the highest for every row: PostgreSQL joins this flat, where
        # the other way took minutes while its statistics still said that the tables were empty.
        later_version = ResponseVersion.objects.filter(
            response=models.OuterRef("version__response"),
            number__gt=models.OuterRef("version__number"),
        )
        later = Blinding.objects.filter(
            version=models.OuterRef("version"), number__gt=models.OuterRef("number")
        )
        return self.filter(
            ~models.Exists(later_version),
            ~models.Exists(later),
            version__response__response_set=response_set,
        )

    def undecided(self) -> "BlindingQuerySet":
        """Those with findings that no person has decided on yet."""
        return self.filter(state=Blinding.State.HELD)

    def kept(self) -> "BlindingQuerySet":
        """Those whose response is not held back."""
        return self.exclude(state=Blinding.State.HELD_BACK)

    def unconfirmed(self) -> "BlindingQuerySet":
        """Decisions of a person that no second one has confirmed."""
        return self.filter(state__in=Blinding.BY_A_PERSON, confirmation=None)


class Blinding(models.Model):
    """One decision about what judges will read of a response version. Append-only by number.

    Written by `dilemmas.services.blinding`.
    """

    class State(models.TextChoices):
        CLEAN = "clean"  # nothing was found; the text is as it was
        HELD = "held"  # something was found; a person decides
        EDITED = "edited"  # a person wrote the text
        ACCEPTED = "accepted"  # a person accepted the text as it stands
        HELD_BACK = "held_back"  # a person took the response out, and said why

    BY_A_PERSON = (State.EDITED, State.ACCEPTED, State.HELD_BACK)

    version = models.ForeignKey(ResponseVersion, on_delete=models.PROTECT, related_name="blindings")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State)
    findings = models.JSONField(default=list)
    finder = models.CharField(
        max_length=40, blank=True
    )  # the version that looked; none if none did
    reason = models.TextField(blank=True)  # why a response is held back
    actor = models.CharField(max_length=32, blank=True)  # a person's opaque id
    created_at = models.DateTimeField(auto_now_add=True)
    sealed_at = models.DateTimeField(null=True, editable=False)

    objects: ClassVar[models.Manager["Blinding"]] = BlindingQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ("version", "number")
        constraints = (
            models.UniqueConstraint(fields=("version", "number"), name="one_blinding_number"),
            models.CheckConstraint(
                condition=models.Q(state__in=("clean", "held", "edited", "accepted", "held_back")),
                name="known_blinding_state",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="held_back") | ~models.Q(reason=""),
                name="held_back_for_a_reason",
            ),
        )

    def __str__(self) -> str:
        return f"{self.version_id}.{self.number} {self.state}"


class BlindingConfirmation(models.Model):
    """A second person's yes to one decision; never by who took it. Append-only."""

    blinding = models.OneToOneField(Blinding, on_delete=models.PROTECT, related_name="confirmation")
    actor = models.CharField(max_length=32)  # a person's opaque id
    at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=~models.Q(actor=""), name="confirmed_by_somebody"),
        )

    def __str__(self) -> str:
        return f"{self.blinding_id} {self.at}"


class BlindedPart(models.Model):
    """What a judge reads of one part."""

    blinding = models.ForeignKey(Blinding, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveSmallIntegerField(default=1)
    text = models.TextField(blank=True)

    class Meta:
        ordering = ("blinding", "number")
        constraints = (
            models.UniqueConstraint(fields=("blinding", "number"), name="one_blinded_part"),
        )

    def __str__(self) -> str:
        return f"{self.blinding_id}/{self.number}"
