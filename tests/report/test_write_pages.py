"""Pages on trends and monitors: their data is checked, follows its schema, and comes back as it was given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs
from tests.report.html_islands import islands
from tests.report.page_samples import make_monitor_page, make_series, make_trend_page
from tests.report.schema_check import load_schema, violations

from assay.report.page.trend_records import MonitorPage, TrendPage
from assay.report.write_pages import write_monitor_page, write_trend_page

SCHEMA = load_schema("trend-pages")


def read_island(path: Path) -> Any:
    """Return the data in a page."""
    return islands(path.read_text(encoding="utf-8"))["page"]


def test_a_page_holds_its_data_and_follows_the_schema(tmp_path: Path) -> None:
    trend, monitor = make_trend_page(), make_monitor_page()
    paths = {"TrendPage": write_trend_page(trend, tmp_path / "t.html")}
    paths["MonitorPage"] = write_monitor_page(monitor, tmp_path / "m.html")
    for kind, page in (("TrendPage", trend), ("MonitorPage", monitor)):
        shown_data = read_island(paths[kind])
        assert page == msgspec.convert(shown_data, type(page))
        assert [] == violations(shown_data, SCHEMA["$defs"][kind], SCHEMA)


def test_the_json_of_a_command_gives_the_same_page_as_the_record(tmp_path: Path) -> None:
    record = make_monitor_page()
    plain = json.loads(msgspec.json.encode(record))
    by_record = write_monitor_page(record, tmp_path / "record.html").read_bytes()
    by_json = write_monitor_page(plain | {"exit_code": 1}, tmp_path / "json.html").read_bytes()
    assert by_record == by_json


def with_point(**changes: Any) -> TrendPage:
    """Return a history whose first point is changed."""
    series = make_series([0.5, 0.6])
    point = structs.replace(series.points[0], **changes)
    return structs.replace(make_trend_page(), series=(structs.replace(series, points=(point, series.points[1])),))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": float("nan")}, "not a finite number"),
        ({"high": float("inf")}, "not a finite number"),
        ({"value": None}, "neither a value nor a reason"),
    ],
)
def test_what_is_no_number_and_has_no_reason_is_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        write_trend_page(with_point(**changes), tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_data_of_another_shape_is_refused_with_its_field(tmp_path: Path) -> None:
    plain = json.loads(msgspec.json.encode(make_monitor_page()))
    plain["alerts"][0]["state"] = "closed"
    with pytest.raises(ValueError, match=r"\$\.alerts\[0\]\.state"):
        write_monitor_page(plain, tmp_path / "page.html")
    with pytest.raises(ValueError, match="not the data of a page"):
        write_monitor_page(msgspec.convert(plain, dict[str, Any]) | {"page": "trend"}, tmp_path / "page.html")


def test_a_point_without_a_value_is_null_in_the_page_and_never_zero(tmp_path: Path) -> None:
    page: MonitorPage = structs.replace(make_monitor_page(), series=(make_series([None, 0.2]),))
    points = read_island(write_monitor_page(page, tmp_path / "page.html"))["series"][0]["points"]
    assert (None, "no answer of this day was judged") == (points[0]["value"], points[0]["reason"])
