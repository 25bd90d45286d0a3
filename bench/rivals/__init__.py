"""Quarry, libFuzzer and random input on the same harness, measured in the same way: the parts of bench/real.py."""
