"""The attacks of scripts/hostile, by what they attack with."""
