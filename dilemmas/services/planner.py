"""What PostgreSQL knows of its tables after many rows were written at once."""

from django.apps import apps
from django.db import connection, transaction


def look_again(*app_labels: str) -> None:
    """Have PostgreSQL look at the apps' tables once this transaction is kept.

    It would do so by itself within minutes; until then it plans as if the new rows were not there.
    SQLite needs nothing.
    """
    if connection.vendor == "postgresql":
        transaction.on_commit(lambda: _analyze(app_labels))


def _analyze(app_labels: tuple[str, ...]) -> None:
    tables = [
        connection.ops.quote_name(model._meta.db_table)
        for label in app_labels
        for model in apps.get_app_config(label).get_models()
    ]
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(tables)}")
