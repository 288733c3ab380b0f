"""The person who signs in: an e-mail address, a language, a time zone. Roles live in `ratings`."""

import secrets
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone


def new_opaque_id() -> str:
    return secrets.token_hex(16)


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, **fields: Any) -> "User":
        """Create a person without a password; entry is by a code sent to the address."""
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_unusable_password()
        user.save(using=self._db)
        return user


class User(AbstractBaseUser):
    """One person. `opaque_id` stands for the person in audit trails, and survives erasure."""

    email = models.EmailField(max_length=254, unique=True)
    opaque_id = models.CharField(max_length=32, unique=True, default=new_opaque_id, editable=False)
    language = models.CharField(max_length=5, blank=True)
    time_zone = models.CharField(max_length=64, blank=True)
    is_owner = models.BooleanField(default=False)  # set by `manage.py createowner` only
    is_demo = models.BooleanField(default=False)  # set by `manage.py load_demo` only
    is_active = models.BooleanField(default=True)
    date_joined = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    class Meta:
        constraints = (models.UniqueConstraint(Lower("email"), name="one_account_per_email"),)

    def __str__(self) -> str:
        return self.email
