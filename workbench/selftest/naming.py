"""Which checks name which kind of defect, for counting: a finding about something else does not count as found.

A check names a defect where its finding tells the defect itself or a consequence that the kind always has: the
input that is paid or refused wrongly, the exception, the wrong count or value, the time, the equal scores.
"""

from __future__ import annotations

NAMING: dict[str, str] = {
    "parse-miss": "RW401 RW402 RW406 RW208 RW601 RW408 RW70 RW114",
    "parse-grab": "RW310 RW406 RW308 RW309 RW401 RW306 RW403 RW209 RW211 RW212 RW70 RW114",
    "loose-match": "RW303 RW308 RW309 RW310 RW312 RW315 RW316 RW403 RW404 RW405 RW317 RW320 RW314 RW70",
    "empty-paid": "RW301 RW302 RW409 RW303 RW313 RW211 RW212 RW317 RW70",
    "format-farm": "RW302 RW304 RW305 RW306 RW107 RW210 RW209 RW212 RW317 RW301 RW312 RW70",
    "prompt-echo": "RW305 RW306 RW601 RW70",
    "hedge": "RW308 RW309 RW310 RW403 RW307 RW315 RW70",
    "stuffing": "RW312 RW210 RW317 RW313 RW107 RW212 RW70",
    "length-exploit": "RW321 RW217 RW313 RW210 RW107 RW301 RW211 RW212 RW317 RW60 RW61 RW70",
    "no-signal": "RW601 RW602 RW60 RW408 RW109 RW108 RW70",
    "gold-wiring": "RW110 RW102 RW103 RW115 RW204 RW205 RW303 RW315 RW401 RW404 RW405 RW409 RW601 RW70",
    "shape": "RW113 RW114 RW105 RW110 RW601",
    "bad-value": "RW105 RW106 RW108",
    "bad-count": "RW104",
    "crash": "RW110 RW214 RW501",
    "swallowed-error": "RW126 RW601 RW408 RW70",
    "signature": "RW101 RW102 RW118",
    "nondeterministic": "RW201 RW202",
    "batch-dependent": "RW204 RW205 RW206",
    "state-leak": "RW203 RW124 RW204 RW205 RW206 RW5",
    "mutates-input": "RW121",
    "slow": "RW111 RW5",
    "side-effect": "RW122 RW123",
    "not-portable": "RW116 RW117",
    "code-verdict": "RW319 RW310",
    "code-unsafe": "RW319 RW901 RW112 RW111",
    "sign-flip": "RW70 RW408 RW209 RW210 RW211 RW212 RW313 RW301",
    "scale-shape": "RW107 RW408 RW209 RW211 RW212 RW61 RW60 RW70",
    "async-blocking": "RW119",
    "set-dominance": "RW6",
    "set-duplicate": "RW6",
    "set-cancel": "RW6",
    "set-names": "RW116",
}
"""The starts of the codes that name a kind of defect, by kind."""


def names_it(kind: str, code: str) -> bool:
    """Whether a finding of the check `code` names a defect of this kind.

    >>> names_it("bad-count", "RW104"), names_it("bad-count", "RW402")
    (True, False)
    """
    return code.startswith(tuple(NAMING[kind].split()))


__all__ = ["NAMING", "names_it"]
