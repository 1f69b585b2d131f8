"""The record of measurements."""

import validation  # noqa: F401 - finds the project of the papers
