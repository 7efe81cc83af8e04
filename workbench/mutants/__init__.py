"""Small changes of a reward's own code, to see whether samples and checks would notice them."""
