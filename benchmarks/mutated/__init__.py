"""Claims changed at random, which an audit may refuse or judge but must not break on."""
