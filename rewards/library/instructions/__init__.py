"""Instructions about form that can be checked by looking: IFEval's 25 kinds, and the reward over them.

>>> from rewards.library.instructions.kinds import KINDS
>>> len(KINDS)
25
"""
