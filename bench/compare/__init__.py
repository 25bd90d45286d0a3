"""The parts of bench/strategies.py."""
