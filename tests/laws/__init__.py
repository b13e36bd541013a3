"""What every measure has to obey."""
