"""Paired statistics: systems are compared on the same questions, and documents are the units.

`documents` names, for each question, the document that answers it; without it each question has one of its own.
"""

from __future__ import annotations

from pericope._native import bootstrap_interval, compare, holm, permutation_p

__all__ = ["bootstrap_interval", "compare", "holm", "permutation_p"]
