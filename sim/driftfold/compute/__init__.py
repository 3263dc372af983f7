"""Compute: how the work of many clients is carried out."""
