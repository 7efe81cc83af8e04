"""What runs inside the sandbox: a fork server and what its children do.

These modules use the standard library and each other, nothing else. The sandboxed interpreter sees no folder
of this project: their texts are handed to it when it starts (`rewards.sandbox.starting`).
"""
