"""Claims with one mistake made on purpose, and whether the audit names it."""
