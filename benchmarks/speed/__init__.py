"""Speed and memory beside numpy's sort and scikit-learn."""
