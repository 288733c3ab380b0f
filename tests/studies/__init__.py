"""What figures are worth. Numpy is given one thread, as manage.py does it."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
