#!/usr/bin/env python3
"""Django's command line for this project."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "awb_panel.settings")
    # The engine has threads of its own. OpenBLAS's wait in a loop: on two busy cores the draws
    # of a large table took ten times as long with them (python -m tests.benchmarks.agreement).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
