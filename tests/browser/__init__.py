"""Pages opened in a real browser, driven over its DevTools protocol."""
