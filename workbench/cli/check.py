"""`reward-workbench check`: what is wrong with a reward, before it is trained on."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rewards.permissions import UNSAFE_CODE, UNSAFE_CODE_HELP, allow_unsafe_code
from workbench.cli.reading import Columns, ReadAs, parse_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.checks.paid import Pay
    from workbench.checks.report import Proved, Report
    from workbench.checks.subject import Options
    from workbench.samples import Samples


def check(
    target: Annotated[
        str | None,
        typer.Argument(help="Project folder, file.py, file.py::function or package.module:function."),
    ] = None,
    samples: Annotated[
        list[Path] | None,
        typer.Option("--samples", help="Completions to check with; default: those of the manifest."),
    ] = None,
    select: Annotated[
        str, typer.Option("--select", help="Only checks whose code starts so: RW1,RW601.")
    ] = "",
    ignore: Annotated[str, typer.Option("--ignore", help="No checks whose code starts so.")] = "",
    format: Annotated[
        str, typer.Option("--format", help="text, json, junit, sarif, github or html.")
    ] = "text",
    out: Annotated[
        Path | None, typer.Option("--out", help="Write there instead of to standard output.")
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", help="Fail only on findings that this report (--format json) has not."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out what takes long, use fewer samples.")
    ] = False,
    seal: Annotated[bool, typer.Option("--seal", help="Seal the set if the checks pass.")] = False,
    verify_seal: Annotated[
        bool, typer.Option("--verify-seal", help="Only say whether the seal still holds.")
    ] = False,
    explain: Annotated[str, typer.Option("--explain", help="Print the manual page of a check: RW104.")] = "",
    list_checks: Annotated[bool, typer.Option("--list", help="List all checks.")] = False,
    assume_kinds: Annotated[
        bool, typer.Option("--assume-kinds", help="Take the kind that a name suggests for the declared one.")
    ] = False,
    pay: Annotated[
        bool,
        typer.Option("--pay", help='Have samples judged by rewards with cost = "paid"; never done in CI.'),
    ] = False,
    durations: Annotated[bool, typer.Option("--durations", help="Say how long each check took.")] = False,
    columns: Columns = "",
    read_as: ReadAs = "",
    unsafe_code: Annotated[
        bool, typer.Option(UNSAFE_CODE, help=UNSAFE_CODE_HELP, callback=allow_unsafe_code)
    ] = False,
) -> None:
    """Check rewards as the trainer calls them, with the smallest completion that shows each fault.

    Exit code 0: nothing at or above the level that fails; 1: such findings, or a seal that does not hold.
    """
    from rewards.errors import UsageError
    from workbench.cli.printing import write_output

    if explain:
        from workbench.checks.manual import page
        from workbench.checks.selection import explained

        write_output(page(explained(explain)), out)
    elif list_checks:
        from workbench.checks.manual import listing

        write_output(listing(), out)
    elif target is None:
        raise UsageError(
            "check needs a TARGET: a project folder, file.py, file.py::function or package.module:function"
        )
    elif verify_seal:
        _verify(target)
    else:
        from workbench.cli.paying import permission
        from workbench.reports.check_report import FORMATS

        if format not in FORMATS:
            raise UsageError(f"--format {format}: known formats are {', '.join(FORMATS)}")
        if seal and (select or ignore):
            raise UsageError(
                "--seal stands for all checks: leave out --select and --ignore "
                "(what is accepted is waived with a reason under [check] waive)"
            )
        report, read = _report(
            target,
            samples or [],
            baseline,
            select=select,
            ignore=ignore,
            quick=quick,
            assume_kinds=assume_kinds,
            extend=seal,
            pay=permission(pay),
            form=read_as,
            columns=parse_columns(columns),
            out=out,
        )
        _write(report, format, out, durations)
        if seal:
            _seal(report, read)
            _tell_form(target, read_as)
        if report.verdict == "fail":
            raise typer.Exit(1)


def _verify(target: str) -> None:
    from workbench.sealing import verify_seal

    sealed = verify_seal(target)
    typer.echo(
        f"the seal holds: {len(sealed.checks)} checks on {sealed.samples.rows} samples, "
        f"{sealed.strength} evidence, sealed {sealed.created}"
    )


def _report(
    target: str, paths: list[Path], baseline: Path | None, **options: Any
) -> tuple[Report, Samples | None]:
    """The report of a run, held against a baseline where there is one; the baseline is read first."""
    from workbench.baseline import against, read_baseline
    from workbench.cli.printing import notes_to_stderr

    before = read_baseline(baseline) if baseline is not None else None
    report, samples = run(target, paths, **options)
    if before is not None:
        report = against(report, before)
    notes_to_stderr(report.notes)
    return report, samples


def _write(report: Report, format: str, out: Path | None, durations: bool) -> None:
    from workbench.cli.printing import notes_to_stderr, write_output
    from workbench.reports.check_report import FORMATS, Manner

    manner = Manner(
        root=Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()),
        colour=out is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR"),
        durations=durations,
    )
    write_output(FORMATS[format](report, manner), out)
    if durations and format != "text":
        slowest = sorted(report.durations.items(), key=lambda item: -item[1])
        notes_to_stderr([f"{code} took {seconds:.3f} s" for code, seconds in slowest], limit=100)


def run(
    target: str,
    paths: list[Path],
    *,
    select: str = "",
    ignore: str = "",
    quick: bool = False,
    assume_kinds: bool = False,
    extend: bool = False,
    pay: Pay | None = None,
    form: str = "",
    columns: Mapping[str, str] | None = None,
    out: Path | None = None,
) -> tuple[Report, Samples | None]:
    """Open a target with its samples and check it; notes and progress go to standard error.

    With `extend`, what a seal that holds has proved of the samples is not proved again. `pay` is asked before calls
    that cost money; None: only recorded answers are used.
    `form`: have the samples read as chat or text; `columns`: names to change in them. `out`: where the report
    will be written, which is refused before anything runs if it would overwrite what is read here.
    """
    from rewards.targets import parse_target
    from workbench.checks.runner import options_of, run_checks
    from workbench.checks.selection import codes_of
    from workbench.cli.printing import notes_to_stderr, progress_bar, refuse_inputs
    from workbench.opening import manifest_of, open_target, sample_paths
    from workbench.tokenizing import tokenizer_for

    samples, batch, proved = None, None, None
    manifest = manifest_of(target)
    if paths or sample_paths(parse_target(target), manifest):
        samples = open_target(target, paths, pinned=True, form=form, columns=columns).samples
        notes_to_stderr([*samples.notes, *map(str, samples.skipped)], limit=10)
        batch = samples.batch(tokenizer_for(manifest))
        if extend:
            proved = _proved(target, samples, options_of(manifest, quick=quick, assume_kinds=assume_kinds))
    refuse_inputs(out, target, samples)
    with progress_bar("checking") as progress:
        report = run_checks(
            target,
            samples,
            select=codes_of(select),
            ignore=codes_of(ignore),
            quick=quick,
            assume_kinds=assume_kinds,
            progress=progress,
            batch=batch,
            proved=proved,
            pay=pay,
        )
    return report, samples


def _proved(target: str, samples: Samples, options: Options) -> Proved | None:
    """What the seal of a target has shown; None where there is none that holds."""
    from rewards.errors import SealError
    from workbench.sealing import proved_by, verify_seal

    try:
        seal = verify_seal(target)
    except SealError:
        return None
    return proved_by(seal, samples, options)


def _seal(report: Report, samples: Samples | None) -> None:
    from workbench.sealing import seal_report

    path = seal_report(report, samples)
    weak = (
        "" if report.strength == "strong" else "; its evidence is weak: no samples labelled right and wrong"
    )
    held, remedy = report.held_short
    without = f"; it covers nothing of {held}: {remedy}" if held else ""
    typer.echo(f"sealed: {path}{weak}{without}", err=True)


def _tell_form(target: str, form: str) -> None:
    """Say where samples were read in a form in which training will not read them."""
    from workbench.cli.printing import notes_to_stderr
    from workbench.opening import manifest_of

    manifest = manifest_of(target)
    if form and form != (manifest.set.read_as if manifest else ""):
        where = (
            f'read_as = "{form}" under [set]'
            if manifest
            else f'a manifest with read_as = "{form}" under [set]'
        )
        notes_to_stderr([f"the seal stands for samples read as {form}; training reads so with {where}"])


def check_and_seal(target: str, paths: list[Path], *, quick: bool = True) -> bool:
    """Check a set and seal it if it passes; the findings of one that does not go to standard error.

    Returns:
        Whether it was sealed.
    """
    from workbench.reports.check_text import check_text

    report, samples = run(target, paths, quick=quick)
    if report.verdict == "fail":
        sys.stderr.write(check_text(report, colour=sys.stderr.isatty()))
        return False
    _seal(report, samples)
    return True
