"""The table of scores is the one that its command writes from the rows of the benchmark."""

from docs.tools.scores import PAGE, table, updated


def row(**values: str) -> dict[str, str]:
    usual = {
        "date": "2026-11-01", "instance": "meta10", "seconds": "60", "workers": "2", "seeds": "3", "of": "180",
        "best": "177", "median": "176", "worst": "175", "time_to_median_s": "1.6", "nodes_per_s": "45600000",
        "note": "commit abc1234; busy",
    }  # fmt: skip
    return usual | values


def test_the_page_has_the_table_of_the_latest_rows() -> None:
    page = PAGE.read_text()
    assert updated(page) == page
    assert page.count("| Eternity II, starter clue | 480 | 60 s, 2 |") == 1


def test_a_row_shows_scores_time_speed_and_commit() -> None:
    last = table([row()]).splitlines()[-1]
    assert last == "| meta10 | 180 | 60 s, 2 | **176** | 175 to 177 | 3 | 2 s | 46 | abc1234 |"


def test_the_last_day_counts_and_then_the_number_of_seeds() -> None:
    rows = [row(date="2026-11-02", seeds="5"), row(date="2026-11-02", seeds="1"), row(date="2026-11-01", seeds="9")]
    lines = table([*rows, row(note="engine tabu"), row(seconds="20")]).splitlines()
    assert len(lines) == 3
    assert "| 5 |" in lines[-1]
