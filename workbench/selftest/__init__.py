"""The proof of the checks: how many broken rewards they find, and how many sound ones they leave alone."""
