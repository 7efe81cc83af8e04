"""The rewards as TRL calls them, and the record of every completion they scored."""
