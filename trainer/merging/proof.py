"""The proof that a merged model is its base plus its adapter, and nothing else.

A merge goes wrong silently: not merged at all, merged twice, one module missed, put on another base, the
tokenizer "repaired", the update rounded away. So the folder as written is examined, each check a function of
its own:

    0   the base is the one that was trained on                6   tokenizer, template, special tokens
        unchanged
    1   every number finite                                    7   loads in a fresh process without PEFT
    2   each changed weight = base + scale x B A               8   the same logits as base with adapter
        (full fine-tuning: = the trained one)
    3   every other tensor = base, bit by bit                  9   and in the dtype that is served
    4   the same keys, no leftovers of the adapter            10   how much of the update survived rounding
    5   the configuration explained                           11   the merged model differs from its base
                                                              12   the same greedy answers

In 16 bits 9 and 12 scatter so much that they cannot tell a right merge from none at all; 2, 3 and 10 can, and they
carry the proof. After full fine-tuning 2 and 10 are those of the trained weights; where nothing was cast either, 8, 9
and 12 do not apply. How good the model is, is asked by `compare` (13): paired differences on held-out prompts, the
means of the rewards among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from trainer.merging.adapters import Adapter, read_adapter
from trainer.merging.proof_files import (
    Check,
    check_config,
    check_fresh_reload,
    check_keys,
    check_tokenizer,
)
from trainer.merging.proof_logits import LogitFacts, check_effect, check_logits, compare_logits
from trainer.merging.proof_numbers import (
    count_not_finite,
    merged_weight,
    retention_parts,
    same_bits,
    ulp_error,
)
from trainer.merging.proof_serving import check_serving
from trainer.models.generation import Prompt
from trainer.models.loading import fingerprint_weights, load_model

ULP_LIMIT = 1.0
RETAINED, RETAINED_LEAST = 0.9, 0.7
OF_TWO = {8: "logits", 9: "served logits", 12: "answers"}
"""Checks that compare the trained model with the merged one."""
NOT_MERGED = "nothing was merged: the trained model would be compared with itself"
ERROR_SHARE = 0.1
"""The merge error may be at most this share of what training changed, both as KL divergence."""


@dataclass(frozen=True)
class Subject:
    """What is to be proved.

    `base`, `merged` and `tokenizer` (the tokenizer as trained with) are folders; `adapter` is None after full
    fine-tuning, where `trained` is the folder of the trained weights. `fingerprint` is the base's at
    training, None where none was noted. `prompts` are held-out prompts; fixed ones are used where there are
    none.
    """

    base: Path
    merged: Path
    tokenizer: Path
    dtype: str
    adapter: Path | None = None
    trained: Path | None = None
    fingerprint: str | None = None
    prompts: Sequence[Prompt] = field(default=())

    @property
    def in_place(self) -> bool:
        """True after full fine-tuning where nothing was merged: the trained model itself is examined."""
        return self.adapter is None and self.trained is not None and self.trained == self.merged


def to_json(checks: Sequence[Check]) -> dict[str, Any]:
    """The proof as it stands in merge-proof.json.

    `proved`, and each check's number, name, passed, value, limit, sentence.
    """
    return {"proved": is_proved(checks), "checks": [asdict(check) for check in checks]}


def is_proved(checks: Sequence[Check]) -> bool:
    """True where no check failed (one that does not apply has not failed)."""
    return all(check.passed is not False for check in checks)


def to_text(checks: Sequence[Check]) -> str:
    """The proof as a table, one line a check."""
    marks = {True: "ok", False: "FAILED", None: "-"}
    return "\n".join(
        f"{check.number:>3}  {marks[check.passed]:<6}  {check.name:<20}  {check.sentence}" for check in checks
    )


def check_base(base: Path, expected: str | None) -> Check:
    """0: the base weights have the fingerprint noted at training."""
    found = fingerprint_weights(base)
    if expected is None:
        sentence = "no fingerprint was noted at training; the base is taken on its name"
        return Check(0, "same base", None, found, None, sentence)
    good = found == expected
    sentence = (
        "the base weights are those that were trained on"
        if good
        else f"{base} holds other weights than were trained on ({found[:12]}, not {expected[:12]})"
    )
    return Check(0, "same base", good, found, expected, sentence)


def check_finite(adapter: Mapping[str, Any], merged: Mapping[str, Any]) -> Check:
    """1: no NaN and no infinity in the adapter or the merged weights."""
    bad = {name: count for name, tensor in adapter.items() if (count := count_not_finite([tensor]))}
    bad |= {name: count for name, tensor in merged.items() if (count := count_not_finite([tensor]))}
    total = sum(bad.values())
    sentence = f"{len(adapter) + len(merged)} tensors, every number finite"
    if bad:
        first = next(iter(bad))
        sentence = (
            f"{total} numbers are NaN or infinite, first in {first}; take an earlier checkpoint's adapter"
        )
    return Check(1, "finite", not bad, total, 0, sentence)


def check_changed(base: Mapping[str, Any], merged: Mapping[str, Any], adapter: Adapter) -> Check:
    """2.

    Each weight the adapter changes is base + scale x B A rounded once, each it replaces is the adapter's
    tensor.
    """
    worst, where = 0.0, ""
    for name, pair in adapter.pairs.items():
        if name not in base or name not in merged:
            return Check(
                2, "changed weights", False, None, ULP_LIMIT, f"{name} is in the adapter, not in the model"
            )
        expected = merged_weight(base[name], pair.delta(), merged[name].dtype)
        error = ulp_error(merged[name], expected, base[name])
        if error > worst:
            worst, where = error, name
    for name, tensor in adapter.replaced.items():
        stands = [merged[name]] if name in merged else _of_one_with(adapter.replaced, tensor, merged)
        if not any(same_bits(one, tensor.to(one.dtype)) for one in stands):
            worst, where = float("inf"), name
    good = worst <= ULP_LIMIT
    sentence = f"{len(adapter.pairs)} weights are base + scale x B A, to {worst:.2g} units in the last place"
    if not good:
        sentence = f"{where} is not base + scale x B A: it is {worst:.3g} units in the last place off"
    return Check(2, "changed weights", good, worst, ULP_LIMIT, sentence)


def _of_one_with(replaced: Mapping[str, Any], tensor: Any, merged: Mapping[str, Any]) -> list[Any]:
    """The merged tensors that stand for one that is not stored itself, because it is tied to another."""
    return [merged[name] for name, other in replaced.items() if name in merged and same_bits(other, tensor)]


def check_copied(trained: Mapping[str, Any], merged: Mapping[str, Any]) -> Check:
    """2, after full fine-tuning: every tensor is the trained one, rounded once to the merged dtype."""
    wrong = [
        name
        for name, tensor in trained.items()
        if name not in merged or not same_bits(merged[name], tensor.to(merged[name].dtype))
    ]
    sentence = f"{len(trained)} tensors are the trained ones, rounded once"
    if wrong:
        sentence = f"{len(wrong)} of {len(trained)} tensors are not the trained ones, first {wrong[0]}"
    return Check(2, "changed weights", not wrong, len(wrong), 0, sentence)


def check_untouched(base: Mapping[str, Any], merged: Mapping[str, Any], touched: set[str]) -> Check:
    """3: every tensor the adapter does not name is the base's, bit by bit (in the merged dtype)."""
    rest = [name for name in merged if name not in touched and name in base]
    different = [name for name in rest if not same_bits(merged[name], base[name].to(merged[name].dtype))]
    sentence = f"{len(rest)} tensors are the base's, bit by bit"
    if different:
        sentence = f"{len(different)} tensors changed that the adapter does not touch, first {different[0]}"
    return Check(3, "untouched weights", not different, len(different), 0, sentence)


@dataclass(frozen=True)
class Retention:
    """The share of the update that is in the merged weights.

    Over all modules, and in the one that kept least.
    """

    overall: float
    least: float
    module: str


def measure_retention(
    base: Mapping[str, Any], merged: Mapping[str, Any], adapter: Adapter
) -> Retention | None:
    """How much of the adapter's update the merged weights hold; None where the adapter changes nothing."""
    return _retained(base, merged, ((name, pair.delta()) for name, pair in adapter.pairs.items()))


def measure_full_retention(
    base: Mapping[str, Any], merged: Mapping[str, Any], trained: Mapping[str, Any]
) -> Retention | None:
    """The same after full fine-tuning, over all tensors that training changed."""
    shared = (name for name in trained if name in base and base[name].shape == trained[name].shape)
    return _retained(base, merged, ((name, trained[name].double() - base[name].double()) for name in shared))


def _retained(
    base: Mapping[str, Any], merged: Mapping[str, Any], updates: Iterable[tuple[str, Any]]
) -> Retention | None:
    shares, tops, bottoms = {}, 0.0, 0.0
    for name, update in updates:
        if name in base and name in merged:
            top, bottom = retention_parts(base[name], merged[name], update)
            if bottom > 0:
                shares[name] = top / bottom
                tops, bottoms = tops + top, bottoms + bottom
    if not shares:
        return None
    module = min(shares, key=lambda name: shares[name])
    return Retention(tops / bottoms, shares[module], module)


def check_retention(retention: Retention | None, facts: LogitFacts, dtype: str) -> Check:
    """10.

    Enough of the update survived rounding, and the merge error is small beside what training changed.
    """
    if retention is None:
        nothing = "training changed nothing: every B A is zero, or every weight is the base's"
        return Check(10, "retention", False, None, RETAINED_LEAST, nothing)
    value = min(retention.overall, retention.least)
    share = facts.error_kl / facts.effect_kl if facts.effect_kl > 0 else float("inf")
    sentence = f"{retention.overall:.3f} of the update is in the merged weights"
    sentence += f" (least {retention.least:.3f}, {retention.module})"
    # Not `<`: NaN has to fail.
    kept, exact = value >= RETAINED_LEAST, share <= ERROR_SHARE
    if not kept:
        sentence += f"; at least {RETAINED_LEAST} is needed{_remedy(dtype)}"
    elif not exact:
        sentence += (
            f"; but the merge error is {share:.0%} of what training changed (at most {ERROR_SHARE:.0%})"
        )
        sentence += _remedy(dtype)
    elif value < RETAINED:
        sentence += f"; a little was lost to rounding in {dtype}"
    detail = {**asdict(retention), "error_share_of_effect": share}
    return Check(10, "retention", kept and exact, value, RETAINED_LEAST, sentence, detail)


def _remedy(dtype: str) -> str:
    return (
        ""
        if dtype == "float32"
        else f": {dtype} rounds it away; merge with --dtype float32 or serve the adapter as it is"
    )


def prove(subject: Subject, say: Callable[[str], None] = lambda text: None) -> list[Check]:
    """Examine a merged folder; every check that applies, in order of its number."""
    say("proof: the base's fingerprint ...")
    checks = [check_base(subject.base, subject.fingerprint)]
    model = load_model(subject.base, dtype="float32")
    adapter = read_adapter(subject.adapter) if subject.adapter else None
    say("proof: the weights ...")
    by_weight, retention = _examine_weights(subject, model, adapter)
    checks += by_weight
    checks.append(check_keys(subject.merged, subject.base, set(model.state_dict())))
    checks.append(
        check_config(subject.merged, subject.base, subject.dtype, head_trained=_trains_head(adapter))
    )
    checks.append(check_tokenizer(subject.merged, subject.tokenizer, subject.base))
    say("proof: loading it in a fresh process ...")
    checks.append(check_fresh_reload(subject.merged, subject.dtype))
    say("proof: the logits ...")
    try:
        facts = compare_logits(
            model, subject.adapter, subject.trained, subject.merged, subject.tokenizer, subject.prompts
        )
    except UsageError as error:  # a merged model that does not even load has failed, not the user
        return [*checks, Check(8, "logits", False, None, None, str(error))]
    checks.append(check_effect(facts, subject.dtype))
    if subject.in_place:
        checks += [Check(number, name, None, None, None, NOT_MERGED) for number, name in OF_TWO.items()]
        return sorted(checks, key=lambda check: check.number)
    checks.append(check_logits(facts, subject.dtype))
    checks.append(check_retention(retention, facts, subject.dtype))
    del model  # the models of the next checks are loaded in the served dtype
    say(f"proof: logits and answers in {subject.dtype} ...")
    checks += check_serving(
        subject.base,
        subject.adapter,
        subject.trained,
        subject.merged,
        subject.tokenizer,
        subject.prompts,
        subject.dtype,
    )
    return sorted(checks, key=lambda check: check.number)


def _examine_weights(
    subject: Subject, model: Any, adapter: Adapter | None
) -> tuple[list[Check], Retention | None]:
    """1, 2 and 3, and how much was retained.

    The stored weights are let go afterwards: models can be large.
    """
    stored = stored_tensors(subject.merged)
    base = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    if adapter is None:
        if subject.in_place or subject.trained is None:
            return [check_finite({}, stored)], None
        trained = stored_tensors(subject.trained)
        copied = [check_finite(trained, stored), check_copied(trained, stored)]
        return copied, measure_full_retention(base, stored, trained)
    checks = [
        check_finite(adapter.tensors, stored),
        check_changed(base, stored, adapter),
        check_untouched(base, stored, {*adapter.pairs, *adapter.replaced}),
    ]
    return checks, measure_retention(base, stored, adapter)


def stored_tensors(folder: Path) -> dict[str, Any]:
    """Every tensor in the folder's safetensors files, by name."""
    from safetensors.torch import load_file

    tensors: dict[str, Any] = {}
    for file in sorted(folder.glob("*.safetensors")):
        if not file.name.startswith("adapter_model"):
            tensors.update(load_file(file))
    return tensors


def _trains_head(adapter: Adapter | None) -> bool:
    """True where the adapter changes or replaces the output head or the embedding, which may untie them."""
    names = [*adapter.pairs, *adapter.replaced] if adapter else []
    return any(part in name for name in names for part in ("lm_head", "embed"))
