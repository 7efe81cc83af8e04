def test_silent_difference_in_a_thread_is_a_warning(check):
    source = """
    import threading
    def reward(completions, **kwargs):
        main = threading.current_thread() is threading.main_thread()
        return [1.0 if main else 0.5 for _ in completions]
    """
    [finding] = check(source, "RW120")
    assert finding.severity == "warning"
    assert finding.message == "reward scores 0.5 in a worker thread what it scores 1 in the main thread."
    assert (finding.evidence.got, finding.evidence.expected) == (0.5, 1.0)


def test_alarm_that_only_works_in_the_main_thread_is_information(check):
    source = """
    import signal
    def reward(completions, **kwargs):
        signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGALRM))
        return [1.0 for _ in completions]
    """
    [finding] = check(source, "RW120")
    assert finding.severity == "info"
    assert "only works in main thread" in finding.message
    assert finding.line == 4


def test_chance_is_not_taken_for_the_thread(check):
    source = """
    import itertools
    count = itertools.count()
    def reward(completions, **kwargs):
        return [float(next(count)) for _ in completions]
    """
    assert check(source, "RW120") == []


def test_same_result_everywhere_is_left_alone(check, healthy):
    assert check(healthy, "RW120") == []


def test_quick_leaves_it_out_and_says_so(report_of, healthy):
    report = report_of(healthy, "RW120", quick=True)
    assert [item.to_json() for item in report.skipped] == [{"check": "RW120", "why": "left out by --quick"}]
