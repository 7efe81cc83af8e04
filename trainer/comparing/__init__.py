"""A trained model beside its base on prompts neither was trained on."""
