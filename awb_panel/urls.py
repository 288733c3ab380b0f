"""Every address of the site; `tests/integration/test_permissions.py` lists each of them."""

from allauth.account import views as account
from django.urls import include, path

urlpatterns = [
    path("", include("ratings.urls")),
    path("account/sign-in/", account.request_login_code, name="account_login"),
    path("account/code/", account.request_login_code, name="account_request_login_code"),
    path("account/sign-in/code/", account.confirm_login_code, name="account_confirm_login_code"),
    path("account/sign-out/", account.logout, name="account_logout"),
]

handler400 = "ratings.views.errors.bad_request"
handler403 = "ratings.views.errors.forbidden"
handler404 = "ratings.views.errors.not_found"
handler500 = "ratings.views.errors.server_error"
