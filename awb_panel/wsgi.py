"""The WSGI entry point. It must stay light: no pandas, scipy or statsmodels (tested)."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "awb_panel.settings")
application = get_wsgi_application()
