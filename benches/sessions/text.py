"""Made-up prose, code and results that compress about as well as the real things do.

Everything comes from a vocabulary built of syllables and from a few hundred templates' worth of chance; nothing is
taken from an existing text. A zipf-like choice of words and a short memory give the repetition that writing has.
"""

from __future__ import annotations

import base64
from itertools import accumulate
from random import Random


def _split(words: str) -> list[str]:
    return words.split()


_ONSETS = _split("b bl br c ch cl cr d dr f fl g gr h j k l m n p pl pr qu r s sc sh sl sp st t th tr v w wr y z")
_NUCLEI = _split("a e i o u ai ea ee ie oa oo ou au y")
_CODAS = ["", "", "", "b", "ck", "d", "ft", "g", "l", "ll", "m", "n", "nd", "ng", "nt", "p", "r", "rd", "s", "ss", "st"]
_SUFFIXES = ["", "", "", "", "s", "s", "ed", "er", "ing", "ion", "ity", "ly", "ment", "ness", "ous", "al", "able"]
_GLUE = _split(
    "the of and to a in that it is was for on with as at by from or be are this which not have but they can one all "
    "an we when there more if will no so what up into than them only other some could its then two may these do any"
)
_MODULES = ["numpy", "pandas", "pathlib", "json", "math", "random", "itertools", "functools", "statistics", "re"]
_METHODS = ["append", "groupby", "mean", "sum", "merge", "plot", "sort_values", "reshape", "fit", "items", "join"]


class Writer:
    """One person's words. Two writers with the same seed write the same."""

    def __init__(self, rnd: Random, vocabulary: int = 2500) -> None:
        self._rnd = rnd
        words = list(_GLUE)
        known = set(words)
        while len(words) < vocabulary:
            word = "".join(self._syllable() for _ in range(rnd.choice((1, 1, 2, 2, 2, 3)))) + rnd.choice(_SUFFIXES)
            if word not in known:
                known.add(word)
                words.append(word)
        self._words = words
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(words))))
        self._topic = words[len(_GLUE) :][:400]
        self._names = [f"{rnd.choice(self._topic)}_{rnd.choice(self._topic)}"[:14] for _ in range(30)] + list("xyikn")

    def _syllable(self) -> str:
        rnd = self._rnd
        return rnd.choice(_ONSETS) + rnd.choice(_NUCLEI) + rnd.choice(_CODAS)

    def word(self) -> str:
        return self._rnd.choices(self._words, cum_weights=self._weights)[0]

    def name(self) -> str:
        return self._rnd.choice(self._names)

    def sentence(self) -> str:
        rnd = self._rnd
        words = [self.word() for _ in range(rnd.randint(4, 22))]
        for i in range(1, len(words) - 1):
            if rnd.random() < 0.07:
                words[i] += rnd.choice([",", ",", ",", ";", " \u2013"])
        text = " ".join(words)
        if rnd.random() < 0.03:
            text += rnd.choice([" caf\u00e9", " na\u00efve", " \U0001f600", " \u2192 42"])
        return text[0].upper() + text[1:] + rnd.choice("...?!.")

    def paragraph(self) -> str:
        rnd = self._rnd
        head = f"## {self.word().title()} {self.word()}\n\n" if rnd.random() < 0.2 else ""
        if rnd.random() < 0.15:
            return head + "".join(f"- {self.word()} {self.word()} {self.word()}\n" for _ in range(rnd.randint(2, 6)))
        return head + " ".join(self.sentence() for _ in range(rnd.randint(1, 5))) + "\n"

    def number(self) -> str:
        rnd = self._rnd
        return rnd.choice([str(rnd.randint(0, 9)), str(rnd.randint(10, 5000)), f"{rnd.random():.2f}"])

    def statement(self, indent: str = "") -> str:
        rnd = self._rnd
        a, b, c = self.name(), self.name(), self.name()
        lines = (
            lambda: f"{a} = {b}.{rnd.choice(_METHODS)}({c})",
            lambda: f"{a} = {self.number()}",
            lambda: f'{a}["{self.word()}"] = {b}[{c} > {self.number()}]',
            lambda: (
                f"for {rnd.choice('ijk')} in range({self.number()}):\n{indent}    {self.statement(indent + '    ')}"
            ),
            lambda: f"if {a} {rnd.choice(['==', '>', '<', 'in'])} {b}:\n{indent}    {self.statement(indent + '    ')}",
            lambda: f'print(f"{self.word()} {{{a}:.3f}}", {b})',
            lambda: f"# {self.word()} {self.word()} {self.word()} {self.word()}",
            lambda: f"{a}.{rnd.choice(_METHODS)}({b}, {self.word()}={self.number()})",
            lambda: f"return {a} + {self.number()} * {b}" if indent else f"import {rnd.choice(_MODULES)}",
        )
        return rnd.choice(lines)()

    def code(self) -> str:
        rnd = self._rnd
        if rnd.random() < 0.25:
            body = "".join(f"    {self.statement('    ')}\n" for _ in range(rnd.randint(2, 6)))
            return f"def {self.name()}({self.name()}, {self.name()}={self.number()}):\n{body}\n"
        return "".join(f"{self.statement()}\n" for _ in range(rnd.randint(1, 8)))

    def table(self, rows: int) -> tuple[str, str]:
        """A data frame as text and as HTML."""
        rnd = self._rnd
        names = [self.word() for _ in range(rnd.randint(3, 7))]
        cells = [[f"{rnd.gauss(50, 20):.6f}" for _ in names] for _ in range(rows)]
        text = "    " + " ".join(f"{name:>12}" for name in names)
        text += "".join(f"\n{i:<4}" + " ".join(f"{cell:>12}" for cell in row) for i, row in enumerate(cells))
        head = "".join(f"      <th>{name}</th>\n" for name in names)
        body = "".join(
            f"    <tr>\n      <th>{i}</th>\n" + "".join(f"      <td>{cell}</td>\n" for cell in row) + "    </tr>\n"
            for i, row in enumerate(cells)
        )
        html = f'<div>\n<table border="1" class="dataframe">\n  <thead>\n    <tr style="text-align: right;">\n{head}'
        return text, f"{html}    </tr>\n  </thead>\n  <tbody>\n{body}  </tbody>\n</table>\n</div>"

    def image(self, size: int) -> str:
        """About size characters of base64 that nothing makes smaller, like those of a photograph."""
        return base64.b64encode(b"\x89PNG\r\n\x1a\n" + self._rnd.randbytes(size * 3 // 4)).decode()

    def warning(self) -> str:
        where = f"/lib/{self.word()}.py:{self._rnd.randint(1, 999)}"
        return f"{where}: FutureWarning: {self.sentence()}\n  {self.statement()}\n"

    def traceback(self) -> list[str]:
        rnd = self._rnd
        frames = [
            f"\x1b[0;32m<ipython-input-{rnd.randint(1, 90)}-{rnd.getrandbits(48):012x}>\x1b[0m in "
            f"\x1b[0;36m{self.name()}\x1b[0;34m({self.name()})\x1b[0m\n"
            f"\x1b[1;32m---> {rnd.randint(1, 40)}\x1b[0m {self.statement()}"
            for _ in range(rnd.randint(2, 9))
        ]
        return ["\x1b[0;31m" + "-" * 75 + "\x1b[0m", *frames, f"\x1b[0;31mValueError\x1b[0m: {self.sentence()}"]
