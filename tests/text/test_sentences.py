import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.text.sentences import sentences, split

NOTE = """# Notes of 24 February. Late.

Met Dr. Hardin at 9 a.m. today. We use v1.2. of the
valve firmware, e.g. on SL-12; see https://x.org/a.b?c=1. Is it `a.b. c`? Yes!

1. First item. With two sentences.
2. Second item
   goes on here.
- [ ] task

```python
print("a. b"). No split here. None.

x = 1
```
| a. b | c. D |
Last line... and so on. "Really?" she asked. OK
"""


def test_a_markdown_note() -> None:
    assert sentences(NOTE) == [
        "# Notes of 24 February. Late.", "Met Dr. Hardin at 9 a.m. today.",
        "We use v1.2. of the\nvalve firmware, e.g. on SL-12; see https://x.org/a.b?c=1.",
        "Is it `a.b. c`?", "Yes!", "1. First item.", "With two sentences.",
        "2. Second item\n   goes on here.", "- [ ] task",
        '```python\nprint("a. b"). No split here. None.\n\nx = 1\n```', "| a. b | c. D |",
        "Last line... and so on.", '"Really?" she asked.', "OK",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\n ", []),
        ("Hey Mel! Good to see you! How have you been?", 3),
        ("i went home. it was late", 2),
        ("J. R. Smith met Mrs. Lee of Acme Inc. in the U.S. embassy.", 1),
        ("It costs 3.50 at No. 5. Cheap.", 2),
        ("I said no. Then we left.", 2),
        ("So did I. Then she did.", 2),
        ("We bought pens, ink etc. Then we wrote.", 2),
        ("Wait... I think so", 1),
        ("Wait... What", 2),
        ("Hm\u2026 maybe", 1),
        ("(It rained.) We stayed.", 2),
        ("**Bold end.** Next.", 2),
        ("今日は雨です。家にいます\uff01「本当\uff1f」と聞いた。", 4),
        ("Look at ./a.py and .env now", 1),
        ("It is 5 p.m. She left.", 2),
        ("~~~\nunclosed. fence. here", 1),
        ("> quoted. Line\n> two.", 2),
        ("Place: Delft\nRent: 900 euros\nLandlord: Ada Byrne of Leiden", 3),
        ("> We met\n> Ada of Leiden on Monday.", 1),
    ],
)
def test_cases(text: str, expected: list[str] | int) -> None:
    found = sentences(text)
    assert found == expected or len(found) == expected, found


WHOLE = """
Meine Schwester Gesa heiratet am 12. September in Leer.
Ich fliege am 4. August mit Hanno nach Lissabon.
Mein neuer Vertrag beginnt am 1. Juli in Emden.
Ab dem 1. April schließen wir montags.
Das Büro liegt im 3. Stock.
Wir treffen uns am 2. Montag im Monat.
Das Haus stammt aus dem 19. Jahrhundert und ist schön.
Wir wohnen im 2. und 3. Stock.
Vom 3. bis 5. Mai bin ich weg.
Wir fahren z. B. nach München.
Wir mögen Städte, z. B. München.
Das gilt nicht, d. h. wir müssen warten.
Bzgl. Rechnung 4711 fehlt noch etwas.
Er kommt mit Fr. Müller und Hr. Schmidt.
Es kostet ca. 5 Mio. Euro im Jahr.
Die Preise sind inkl. MwSt. und Versand.
Cäsar starb 44 v. Chr. in Rom.
Termin: 12. August 2026
Geburtstag: 4. März
ich komme am 12. september
El Sr. Gómez viene mañana.
La Sra. Ruiz vive en Madrid.
Vive en la Avda. Constitución con Dña. Carmen.
Véase la pág. 12 del libro.
Vi bor på 3. sal i Aarhus.
Mødet er den 2. juni i København.
Det koster f.eks. 40 kr. om dagen.
Vi flytter inn i 2. etasje den 1. mars.
Narodil se 3. dubna v Brně.
Bydlíme v 5. patře a je to daleko.
Je to v 3. patře a je to daleko.
Muutamme Turkuun 1. syyskuuta.
Asumme 4. kerroksessa.
Spotkanie jest 12. września w Krakowie.
Mieszkamy na 3. piętrze.
Lubię miasta, np. Kraków.
Mme. Durand habite au 12 av. Foch.
Il dott. Rossi e la sig. Bianchi arrivano domani.
De vergadering met dhr. De Vries is om 10 uur.
O Sr. Silva mora na 2. rua.
Ludwig XIV. war König von Frankreich.
Bis 4. August habe ich Urlaub.
Der Termin ist Montag, 12. August, um 9 Uhr.
Der 1. Vorsitzende heißt Peter.
Wir haben das zum 3. Mal probiert.
Brot, Milch usw. kaufen wir morgen.
Kommt er am 12. Dezember?
Unsere Tochter ist in der 5. Klasse.
Wir schreiben uns am 4. August.
Den 17. mai feirer vi.
W XIX. wieku żył tu król.
V 19. století žil zde básník.
Im 2. Weltkrieg wurde das Haus zerstört.
I met Sra. Ruiz at five.
Die Miete ist fällig bis zum 3. des Monats.
"""
TWO = """
We met in room 12. August was hot.
It costs 40. Then we left.
i paid 40. then we left
I am 12. Tom is 10.
She is 34. May I come?
We stayed at no. 12. April came by.
They arrived on the 12. September was rainy.
It costs 40. then we left.
Go with plan b. Then call me.
John Smith Sr. Then he left.
Es kostet 40. Dann gingen wir.
Wir fahren am 12. Dann kommen wir zurück.
Ich bin 34. Meine Schwester ist 30.
Wir kauften Brot usw. Dann gingen wir heim.
Compramos pan, leche, etc. Luego fuimos a casa.
Hace sol. Vamos a la playa.
Room 12. August was hot.
I was in the den. August was there.
So did I. A friend came.
Jeg er 40. Min bror er 38.
We live on level 3. Stock is low.
The price is 12. Max knows.
I saw it on page 2. See Anna.
Il a 40 ans. Sa sœur en a 30.
Het kost 40. Daarna gingen we.
I asked HR. They said no.
np. I will do it.
Check the env. It is broken.
Ich komme um 12. Peter kommt um 1.
J'ai 12 ans. Marc en a 13.
Clawk had it at 10:06. santaclawd answered.
"""


@pytest.mark.parametrize(
    ("text", "count"),
    [(text, 1) for text in WHOLE.strip().split("\n")]
    + [(text, 2) for text in TWO.strip().split("\n")],
)
def test_full_stops_of_several_languages(text: str, count: int) -> None:
    found = sentences(text)
    assert len(found) == count, found


PARTS = [*"aB1.!?`~-#*|\n\n  \t>", "\u3002", "\u2026", "```", "Dr.", "e.g. ", '"', "1. "]
MARKDOWN = st.lists(st.sampled_from(PARTS)).map("".join)


@given(MARKDOWN | st.text(max_size=60))
@examples(300)
def test_each_visible_character_lies_in_one_span(text: str) -> None:
    spans = split(text)

    covered = 0
    for start, end in spans:
        assert covered <= start < end
        assert text[start:end] == text[start:end].strip()
        assert not text[covered:start].strip()
        covered = end
    assert not text[covered:].strip()
