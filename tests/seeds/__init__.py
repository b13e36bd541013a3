"""The numbers of the five source documents, as test data."""
