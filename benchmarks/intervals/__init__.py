"""How often the default intervals hold the truth, by summing or by simulation."""
