"""Jurat."""
