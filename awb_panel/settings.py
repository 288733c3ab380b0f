"""Settings, one file: strict, closed by default, read from the environment (see docs/operators.md)."""

import tomllib
from pathlib import Path

from csp.constants import NONE, SELF

from awb_panel import env

BASE_DIR = Path(__file__).resolve().parent.parent

VERSION: str = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]

DEBUG = env.flag("AWB_DEBUG")
SECRET_KEY = env.secret_key(BASE_DIR / "var" / "secret-key")
ALLOWED_HOSTS = env.words("AWB_ALLOWED_HOSTS", "localhost,127.0.0.1")
SITE_URL = env.text("AWB_SITE_URL", "http://localhost:8000")
# Plain HTTP is for a loopback address only: cookies then travel without `Secure`.
INSECURE_HTTP = env.flag("AWB_INSECURE_HTTP")
# The demo's one-click sign-in; `ratings.permissions.demo_sign_in_allowed` asks for more than this.
DEMO = env.flag("AWB_DEMO")
BIND = env.text("AWB_BIND", "")

INSTALLED_APPS = [
    "awb_panel.accounts",
    "ratings",
    "dilemmas",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "django_htmx",
    "django_tasks",
    "django_tasks_db",
    "template_partials",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "awb_panel.accounts.middleware.PersonLocaleMiddleware",
    "awb_panel.accounts.middleware.SignInRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "awb_panel.accounts.middleware.PrivatePagesMiddleware",
]

ROOT_URLCONF = "awb_panel.urls"
WSGI_APPLICATION = "awb_panel.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "awb_panel.context.site",
            ],
        },
    },
]

DATABASES = {
    "default": env.database(
        env.text("DATABASE_URL", "sqlite:///var/installation.sqlite3"), base=BASE_DIR
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "awb_cache",
    },
    # Parts of pages that are the same for everybody, in the process itself.
    "pages": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 2000},
    },
}

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "awb_panel.accounts.adapter.ClosedAccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_BY_CODE_ENABLED = True
ACCOUNT_LOGIN_BY_CODE_TIMEOUT = 30 * 60
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_SESSION_REMEMBER = True

# A judge's session lasts 30 days: nobody should have to sign in again in the middle of a panel.
SESSION_COOKIE_AGE = 30 * 24 * 3600
SESSION_SAVE_EVERY_REQUEST = False
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_AGE = 365 * 24 * 3600
CSRF_FAILURE_VIEW = "ratings.views.refusals.csrf_failure"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not INSECURE_HTTP

SECURE_SSL_REDIRECT = not INSECURE_HTTP
SECURE_HSTS_SECONDS = 0 if INSECURE_HTTP else 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = not INSECURE_HTTP
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if env.flag("AWB_BEHIND_PROXY"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "manifest-src": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

EMAIL_BACKEND = env.text("AWB_EMAIL_BACKEND", "django.core.mail.backends.console.EmailBackend")
EMAIL_HOST = env.text("AWB_EMAIL_HOST", "localhost")
EMAIL_PORT = env.integer("AWB_EMAIL_PORT", 25)
EMAIL_HOST_USER = env.text("AWB_EMAIL_USER", "")
EMAIL_HOST_PASSWORD = env.text("AWB_EMAIL_PASSWORD", "")
EMAIL_USE_TLS = env.flag("AWB_EMAIL_TLS")
EMAIL_FILE_PATH = env.text("AWB_EMAIL_FILE_PATH", "") or None
DEFAULT_FROM_EMAIL = env.text("AWB_EMAIL_FROM", "AWB Panel <panel@localhost>")

LANGUAGE_CODE = "ca"
LANGUAGES = [("ca", "Català"), ("es", "Español"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "awb_panel" / "locale"]
USE_I18N = USE_TZ = True
TIME_ZONE = env.text("AWB_TIME_ZONE", "Europe/Madrid")
FORMAT_MODULE_PATH = ["awb_panel.formats"]

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# Tests and development look files up where they lie, so that no collectstatic is needed first.
if env.flag("AWB_STATIC_FROM_SOURCE"):
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    WHITENOISE_USE_FINDERS = True

DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024 * 1024

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default"]}}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {"django.security.csrf": {"level": "ERROR"}},
}
