"""Telling languages apart, and the reward for staying in one."""

from __future__ import annotations

from typing import Any

import pytest

from rewards.credits import recording
from rewards.library import language_consistency
from rewards.library.languages import LANGUAGES, detect_language, language_code

SENTENCES = {
    "en": "The weather is nice today and we are going to the park.",
    "de": "Das Wetter ist heute schön und wir gehen in den Park.",
    "fr": "Il fait beau aujourd'hui et nous allons dans le parc.",
    "es": "Hoy hace buen tiempo y vamos a ir al parque con los niños.",
    "pt": "O tempo está bom hoje e nós vamos ao parque com as crianças.",
    "it": "Oggi il tempo è bello e andiamo al parco con i bambini.",
    "nl": "Het weer is mooi vandaag en wij gaan naar het park.",
    "sv": "Vädret är fint idag och vi ska gå till parken med barnen.",
    "fi": "Sää on tänään kaunis ja me menemme puistoon lasten kanssa.",
    "pl": "Pogoda jest dzisiaj ładna i idziemy do parku z dziećmi.",
    "tr": "Bugün hava çok güzel ve biz parka gidiyoruz.",
    "vi": "Hôm nay thời tiết đẹp và chúng tôi đi đến công viên.",
    "sw": "Hali ya hewa ni nzuri leo na sisi tunaenda kwenye bustani.",
    "ru": "Сегодня хорошая погода, и мы идём в парк с детьми.",
    "uk": "Сьогодні гарна погода, і ми йдемо до парку з дітьми.",
    "bg": "Днес времето е хубаво и ние отиваме в парка с децата.",
    "ar": "الطقس جميل اليوم ونحن ذاهبون إلى الحديقة مع الأطفال.",
    "fa": "امروز هوا خوب است و ما به پارک می رویم.",
    "ur": "آج موسم اچھا ہے اور ہم پارک میں جا رہے ہیں۔",
    "hi": "आज मौसम अच्छा है और हम पार्क में जा रहे हैं।",
    "mr": "आज हवामान छान आहे आणि आपण उद्यानात जात आहोत.",
    "ne": "आज मौसम राम्रो छ र हामी पार्कमा जाँदैछौं।",
    "zh": "今天天气很好，我们去公园。",
    "ja": "今日は天気がいいので、公園に行きます。",
    "ko": "오늘은 날씨가 좋아서 공원에 갑니다.",
    "th": "วันนี้อากาศดี เราไปสวนสาธารณะ",
    "el": "Ο καιρός είναι καλός σήμερα.",
    "he": "מזג האוויר נאה היום.",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_a_sentence_is_in_its_language(code: str) -> None:
    assert detect_language(SENTENCES[code]) == code
    assert code in LANGUAGES


@pytest.mark.parametrize("text", ["", "42 + 7 = 49", "Xqzt", "!?", "\x00\ud800"])
def test_where_nothing_tells_there_is_no_language(text: str) -> None:
    assert detect_language(text) is None


def test_codes_are_read_in_their_usual_spellings() -> None:
    assert [language_code(code) for code in ("EN", "pt-BR", "zh_tw", "nb", "", None)] == [
        "en", "pt", "zh", "no", None, None,
    ]  # fmt: skip


@pytest.mark.parametrize("code", SENTENCES)
def test_a_text_in_the_target_language_is_paid_in_full_and_one_in_another_nothing(code: str) -> None:
    other = "de" if code == "en" else "en"
    assert language_consistency([SENTENCES[code]], code) == [1.0]
    assert language_consistency([SENTENCES[code]], other) == [0.0]


def test_a_foreign_sentence_costs_the_share_of_its_letters_and_is_shown() -> None:
    text = f"{SENTENCES['en']} {SENTENCES['ru']}"
    with recording(1) as record:
        (score,) = language_consistency([text])
    assert score == pytest.approx(43 / (43 + 40), abs=0.02)
    assert record.by_row()[0][0]["spans"] == [[text.index("Сегодня"), len(text)]]


def test_code_tags_and_numbers_are_in_no_language() -> None:
    text = "<think>This is the plan.</think>\n```py\nwenn der nicht und = 1\n```\nIt is `der Wert`.\n42"
    assert language_consistency([text]) == [1.0]
    assert language_consistency(["42", "", "```\nThis is it\n```"]) == [0.0, 0.0, 0.0]


def test_a_column_has_the_language_of_each_row() -> None:
    texts = [SENTENCES["de"], SENTENCES["en"], SENTENCES["en"], SENTENCES["en"]]
    assert language_consistency(texts, ["de", "de", None, "tlh"]) == [1.0, 0.0, None, None]


@pytest.mark.parametrize("value", ["", "tlh", None, 7])
def test_a_language_for_all_that_is_not_known_is_refused(value: Any) -> None:
    with pytest.raises(
        ValueError, match=r"reward 'language_consistency': target_language=.* must be one of af, am"
    ):
        language_consistency(["x"], value)
