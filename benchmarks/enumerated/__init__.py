"""All matrices that the counts of a claim allow, and which of its numbers each of them gives.

Written from the contract alone: formulas, readings of keys and the enumeration share no code with
the audit that they judge.
"""
