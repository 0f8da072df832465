from tables import table

from clsm_cli.text.statement_streams import stream_of


def test_labelled_sentences() -> None:
    labelled = table(__file__, "labelled")
    wrong = [row for row in labelled if stream_of(row[1]) != row[0]]
    assert len(labelled) >= 40
    assert len(wrong) <= 0.1 * len(labelled), wrong


def test_nothing_is_flow() -> None:
    assert stream_of("") == "flow"
