def test_closure_cannot_be_pickled(check):
    source = """
    def make(tag):
        def tagged(completions, **kwargs):
            return [float(tag in c[-1]["content"]) for c in completions]
        return tagged
    reward = make("answer")
    """
    [finding] = check(source, "RW117")
    assert finding.severity == "warning"
    assert "Can't pickle local object 'make.<locals>.tagged'" in finding.message
    assert finding.line == 3


def test_object_that_holds_a_lock_cannot_be_pickled(check):
    source = """
    import threading
    class Judge:
        def __init__(self):
            self.lock = threading.Lock()
        def __call__(self, completions, **kwargs):
            return [1.0 for _ in completions]
    reward = Judge()
    """
    [finding] = check(source, "RW117")
    assert "lock" in finding.message


def test_partial_of_a_module_level_function_is_left_alone(check):
    source = """
    import functools
    def _tagged(completions, tag, **kwargs):
        return [float(tag in c[-1]["content"]) for c in completions]
    reward = functools.partial(_tagged, tag="answer")
    """
    assert check(source, "RW117") == []


def test_marked_function_is_left_alone(check):
    source = """
    from rewards.marks import reward as mark
    @mark(kind="format")
    def reward(completions, **kwargs):
        return [1.0 for _ in completions]
    """
    assert check(source, "RW117") == []
