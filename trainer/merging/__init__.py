"""A trained adapter merged into its base, the proof of it, and where the merged model goes."""
