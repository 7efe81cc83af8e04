"""RW507: a reward that connects to other machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject

PROBE = "workbench.checks.robustness.auditing:connections"


class Network(RewardCheck):
    """The reward connects to another process or machine while it scores.

    Then the run depends on that service: when it is slow, all devices wait; when it is down, the reward raises or
    pays everyone 0.0, and the weights follow. This is a note, with the address; it is a warning where the connection
    waits without a limit, because TRL has none either. Connections made by child processes are not seen.

    Example:
        urllib.request.urlopen("http://judge:8000/score", data)       # no timeout: waits for ever

    Remedy:
        Give every request a timeout, return None (not 0.0) where the service gives no answer, keep answers, and
        declare `cost = "paid"` where they cost money.
    """

    code = "RW507"
    name = "network"
    severity = "warning"
    summary = "scoring connects to another machine"
    cost = Cost.HAMPERS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each address, at most three."""
        if not subject.usable:
            return
        rows = subject.usable[:2]
        seen: list[dict[str, Any]] = subject.probe(PROBE, len(rows), rows=rows) or []
        addresses = {item["address"]: item for item in reversed(seen)}
        for address, item in list(addresses.items())[:3]:
            endless = item["timeout"] is None
            paid = subject.description.entry.cost == "paid"
            yield self.finding(
                f"{subject.name} connects to {address} while it scores"
                + (" and would wait for an answer without a limit." if endless else "."),
                advice="Give the request a timeout, and return None where no answer comes: a service that is down "
                "must not become a score.",
                cause=f"connects {address}",
                reward=subject.name,
                severity="warning" if endless and not paid else "info",
                evidence=subject.evidence(
                    rows[0],
                    got="no timeout" if endless else f"a timeout of {item['timeout']:g} s",
                    expected="a timeout" if endless else None,
                ),
                line=item["line"] or subject.description.line,
            )


__all__ = ["Network"]
