"""Serving orders: pure, without numpy, so that the web process stays light."""
