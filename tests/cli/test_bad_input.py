"""The page of answers to bad input is what the commands say."""

import pytest
from cli_bad_input import CASES, PAGE, answer_all, page

ALL = [case for cases in CASES.values() for case in cases]


@pytest.fixture(scope="module")
def answers():
    return answer_all()


def test_the_page_is_not_stale(answers):
    foreign = [case.command for case in ALL if case.has_words_of_others]

    def lines(text):
        """All but the words of other libraries, which change with their versions."""
        return [
            line[-4:] if any(f"`localsvm {each}`" in line for each in foreign) else line
            for line in text.splitlines()
        ]

    message = "run `python benchmarks/cli_bad_input.py`"
    assert lines(page(answers)) == lines(PAGE.read_text(encoding="utf-8")), message


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.mistake)
def test_the_answer_is_a_line_and_nothing_is_written(answers, case):
    answer = answers[case]
    assert answer.exit_code in (1, 2)
    assert answer.stdout == ""
    assert answer.stderr.startswith("error: ")
    assert len(answer.stderr.splitlines()) == 1
    assert answer.new_files == ()
