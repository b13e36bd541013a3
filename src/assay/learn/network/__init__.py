"""A neural network in NumPy, as a scikit-learn classifier; needs the extra ``learn``."""

from assay.learn.network.classifier import ANNClassifier

__all__ = ["ANNClassifier"]
