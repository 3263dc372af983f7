"""Artefacts: what jobs leave in the folder, or at the URL, of all runs."""
