"""What is measured, each as a ratio in one run: ``python -m benchmarks [name…]``."""
