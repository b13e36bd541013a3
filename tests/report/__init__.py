"""Reports: the document and its text faces. ``cases`` are the evaluations that they all show."""
