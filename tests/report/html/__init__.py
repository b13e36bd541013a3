"""The report as a page, looked at without a browser."""
