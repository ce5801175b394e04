"""The driver of tools/bench."""
