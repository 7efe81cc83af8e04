def test_thread_left_by_every_call_is_found(check):
    source = """
    import threading
    def reward(completions, **kwargs):
        threading.Thread(target=threading.Event().wait, name="reporter", daemon=True).start()
        return [1.0 for _ in completions]
    """
    [finding] = check(source, "RW124")
    assert finding.severity == "warning"
    assert finding.message == "reward leaves 1 thread behind with every call (reporter)."
    assert finding.evidence.got == [1, 1, 1]


def test_file_left_open_by_every_call_is_found(check):
    source = """
    kept = []
    def reward(completions, **kwargs):
        kept.append(open("/dev/null"))
        return [1.0 for _ in completions]
    """
    [finding] = check(source, "RW124")
    assert "leaves 1 open file behind" in finding.message


def test_child_process_left_running_is_found(check):
    source = """
    import subprocess
    kept = []
    def reward(completions, **kwargs):
        kept.append(subprocess.Popen(["sleep", "60"]))
        return [1.0 for _ in completions]
    """
    [finding] = check(source, "RW124")
    assert "leaves 1 child process behind" in finding.message


def test_pool_kept_from_the_first_call_is_left_alone(check):
    source = """
    from concurrent.futures import ThreadPoolExecutor
    pool = ThreadPoolExecutor(2)
    def reward(completions, **kwargs):
        return list(pool.map(lambda c: 1.0, completions))
    """
    assert check(source, "RW124") == []


def test_reward_that_leaves_nothing_is_left_alone(check, healthy):
    assert check(healthy, "RW124") == []
