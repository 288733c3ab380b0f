"""The only writers of `ratings`: verbs, keyword-only, each one transaction with its audit event."""
