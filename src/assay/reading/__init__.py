"""From anything that holds rows to checked columns: so far, the arrays of statistical tests."""
