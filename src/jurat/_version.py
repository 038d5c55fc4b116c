"""The version of this distribution, the one place where it's written."""

__version__ = "0.1.0"
