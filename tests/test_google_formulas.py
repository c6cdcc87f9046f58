"""Formulas in the words of a locale, and around what Google forbids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.stores.google.formulas import into_locale, out_of_locale, through_indirect

FORMULAS = st.lists(
    st.sampled_from(
        [
            "A1",
            ",",
            "(",
            ")",
            '"a,b;c"',
            "0.5",
            "+",
            "IF",
            "'It''s, a tab'!B2",
            "$C$5:$C$60",
            "{",
            "}",
        ]
    ),
    max_size=12,
).map(lambda parts: "=" + "".join(parts))


@given(FORMULAS)
def test_formulas__into_a_locale_and_back(formula: str) -> None:
    assert out_of_locale(into_locale(formula, "de_DE"), "de_DE") == formula


@pytest.mark.parametrize(
    ("formula", "german"),
    [
        ('=IF(A1=0.5,"a,b.5",2)', '=IF(A1=0,5;"a,b.5";2)'),
        ("='a,b'!C1+SUM(A1,B1)", "='a,b'!C1+SUM(A1;B1)"),
    ],
)
def test_formulas__in_german(formula: str, german: str) -> None:
    assert into_locale(formula, "de_DE") == german


@pytest.mark.parametrize(
    ("formula", "indirect"),
    [
        ("=$A1=Auction!$A$5", '=$A1=INDIRECT("Auction!$A$5")'),
        ("='To do'!$A$5>1", "=INDIRECT(\"'To do'!$A$5\")>1"),
        ("=Auction!$D7=1", '=INDIRECT("Auction!"&"R"&(ROW()+2)&"C4",FALSE)=1'),
        (
            "=SUM(T!A$1:B5)",
            '=SUM(INDIRECT("T!"&"R1"&"C"&(COLUMN()-2)&":"&"R"&(ROW()+0)&"C"&(COLUMN()-1),FALSE))',
        ),
        ('=A1="Auction!$A$5"', '=A1="Auction!$A$5"'),
    ],
)
def test_formulas__other_tabs_through_indirect(formula: str, indirect: str) -> None:
    assert through_indirect(formula, row=5, column=3) == indirect
