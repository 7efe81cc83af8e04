from workbench.checks.odd import odd_completions, repeated


def test_odd_completions_hold_the_plain_ones_and_each_only_once():
    texts = [item.text for item in odd_completions(["<answer>4</answer>", "<answer>4</answer>"])]
    assert texts[0] == ""
    assert len(texts) == len(set(texts))
    assert "<answer>1/0</answer>" in texts
    assert "<answer>4</answe" not in texts  # cut by three, not by two


def test_numbers_of_a_formula_are_piled_up_and_other_numbers_are_not():
    texts = [item.text for item in odd_completions(["<answer>(44 + 19) * 35</answer>"])]
    assert "<answer>44**19**35</answer>" in texts
    assert not any("**" in item.text for item in odd_completions(["In 1999, 2001 and 2004 it was -3."]))


def test_number_that_is_replaced_is_the_last_one():
    texts = [item.text for item in odd_completions(["2 plus 2 is <answer>4</answer>"])]
    assert "2 plus 2 is <answer>NaN</answer>" in texts


def test_every_odd_completion_says_what_it_is():
    assert all(item.what for item in odd_completions(["a 1"]))


def test_repeated_text_stands_on_lines_of_its_own():
    assert repeated("ab", 3).text == "ab\nab\nab"
