"""What people type in: strings become domain values; a form writes nothing."""
