"""What follows a run step by step, and what it says."""
