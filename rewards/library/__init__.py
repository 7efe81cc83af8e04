"""The built-in rewards: plain functions in TRL's own call form, one family a file.

Each returns a value in [0, 1] (penalties in [-1, 0]), abstains (None) only where there is no reference, and is
marked with kind, range and the weight that suits its kind. In a manifest they are named
`rewards.library:exact_match`; their parameters go into `params`.

    exact_match         the answer is the reference
    numeric             the number is the reference, within a tolerance
    strict_xml_format   the blocks, each tag on its line
    soft_xml_format     the blocks, whatever the white space
    incremental_format  a share for each tag in its place
    ideal_length        near a length
    min_length          long enough
    max_length          not too long (a penalty)
"""

from __future__ import annotations

from rewards.library.exact import exact_match
from rewards.library.incremental import incremental_format
from rewards.library.length import ideal_length, max_length, min_length
from rewards.library.numeric import numeric
from rewards.library.xml_format import soft_xml_format, strict_xml_format

__all__ = [
    "exact_match",
    "ideal_length",
    "incremental_format",
    "max_length",
    "min_length",
    "numeric",
    "soft_xml_format",
    "strict_xml_format",
]
