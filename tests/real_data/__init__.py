"""What the readers, the command line and the reports give on real files."""
