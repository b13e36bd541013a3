"""What `mutants.py` is made of: the changes, the record of which test runs what, and a trial."""
