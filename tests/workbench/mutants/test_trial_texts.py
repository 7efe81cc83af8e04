from workbench.mutants.trial_texts import spoken_of, trial_texts


def test_number_of_the_code_becomes_a_count_of_words():
    made = [text for _, text in trial_texts(["so it is"], "def f(t): return len(t.split()) > 7")]
    assert {6, 7, 8} <= {len(text.split()) for text in made}


def test_word_of_the_code_is_put_into_a_sample_and_taken_out():
    made = [text for _, text in trial_texts(["so it is"], "def f(t): return 'because' in t and 'it' in t")]
    assert "so it is because" in made
    assert "so  is" in made


def test_pattern_of_the_code_is_matched_alone_and_over_a_line_break():
    made = [
        text for _, text in trial_texts(["so"], "import re\ndef f(t): return re.search('<a>.*</a>', t, re.S)")
    ]
    assert "<a>so it is</a>" in made
    assert "<a>a\nb</a>" in made


def test_numbers_just_inside_and_outside_a_tolerance_are_tried():
    made = [text for _, text in trial_texts(["it is 10"], "def f(a, b): return abs(a - b) <= 0.01 * abs(b)")]
    assert "it is 10.1" in made
    assert "it is 10.15" in made


def test_samples_themselves_are_not_made_up():
    assert "so it is" not in {text for _, text in trial_texts(["so it is"], "", most=500)}


def test_docstring_is_not_spoken_of():
    assert spoken_of('def f(t):\n    """Words."""\n    return t == "x"\n') == (["x"], [], [])
