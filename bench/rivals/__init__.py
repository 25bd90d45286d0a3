"""Quarry, libFuzzer and random input on the same harness, measured alike: the parts of bench/real.py."""
