from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "awb_panel.accounts"
    label = "accounts"
