"""Lines of ten scripts and of what is odd, the same ones every time."""

import os
import random

RANGES = {
    "latin": [(0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x17F), (0x1E00, 0x1EFF)],
    "cyrillic": [(0x400, 0x45F), (0x460, 0x4FF)],
    "greek": [(0x391, 0x3A1), (0x3A3, 0x3CE), (0x1F00, 0x1F15)],
    "arabic": [(0x621, 0x64A), (0x64B, 0x652), (0x660, 0x669)],
    "hebrew": [(0x5D0, 0x5EA), (0x5B0, 0x5BC)],
    "devanagari": [(0x904, 0x939), (0x93E, 0x94D), (0x966, 0x96F)],
    "chinese": [(0x4E00, 0x9FA5), (0x3400, 0x3500), (0x20000, 0x20100)],
    "japanese": [(0x3041, 0x3096), (0x30A1, 0x30FC), (0x4E00, 0x5E00)],
    "korean": [(0xAC00, 0xD7A3), (0x1100, 0x1112), (0x1161, 0x1175)],
    "thai": [(0xE01, 0xE3A), (0xE40, 0xE4E)],
}
EMOJI = ["😀", "👩‍👩‍👧‍👦", "👍🏽", "🇩🇪", "🏳️‍🌈", "❤️", "👨🏿‍💻", "1️⃣", "🧑‍🚀", "✨"]
CODE = ["for (int i = 0; i < n; ++i) {", "\tx[i] += y[i] * 2.5e-3;", "}",
        "def f(self, *args, **kw):", "    return {'a': 1}", "SELECT * FROM t;",
        "<div class=\"x\">&amp;</div>", "#include <vector>", "a->b::c()",
        "print(f'{x:>10}')", "\\begin{x}", "http://ex.org/a?b=c&d=%20#e"]
SPACES = [" ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", "\u00a0", "\u2003",
          "\u3000", "\u200b", "\u2028", " \n ", "\x0b", "\x0c", "\x85",
          "\u1680", "\u202f"]
CONTROLS = [chr(c) for c in list(range(0, 32)) + [127, 0x80, 0x8F, 0x9F, 0xAD,
            0xFEFF, 0xFFFD, 0x200E, 0x202E, 0xE000, 0xFFFE, 0x10FFFF, 0xE0001]]
MARKS = [chr(c) for c in list(range(0x300, 0x31B)) + [0x323, 0x327, 0x328,
         0x345, 0x35C, 0x36F, 0x5B7, 0x64B, 0x93C, 0x3099, 0x309A, 0x20DD]]
COMPATIBLE = list("ﬁﬀﬃ①②Ⅷ㍿ＡＢｃ１２ｶﾞﾊﾟ½¼²³™℡㎏㏂ﷺ…‥ªºµſẛﬅ℃Å")
SENTENCES = [
    "Hello, how are you doing today? I'm fine; it's 3:45pm!",
    "I'LL we've THEY'RE 'Sam's 'ſo don't can't 1234567 3.14159 0x1F",
    "Der Fluß fließt über Öl, Äpfel und Übermut.",
    "L'été à l'hôtel: ça coûte 12,50 € – œuf, Noël…",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία. ΣΊΣΥΦΟΣ ςσ",
    "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر",
    "דג סקרן שט בים מאוכזב ולפתע מצא לו חברה",
    "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश",
    "我能吞下玻璃而不伤身体。今天天气很好，我们去公园吧！",
    "いろはにほへと ちりぬるを ワガヨタレゾ ツネナラム。",
    "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน",
    "İstanbul'da ığdır IĞDIR ǅ ǆ ß ẞ ﬁ", "", " ", "   ", "\n", "a", "▁", "▁▁ a▁b",
    "<s>", "</s> <unk>", "[CLS] a [SEP]", "<0x41>", "##a ##", "Ġa Ċ", "<mask>x",
    " <mask> ", "a<mask>", "[MASK].", "e\u0301 E\u0301\u0323 \u0301a",
    "\u1100\u1161\u11a8 각 \u1100\u1161", "q\u0307\u0323 q\u0323\u0307",
    "①②③ ½ ﬁ ﷺ", "don't do not n't 's", "A" * 150, "ab" * 200, "a\0b",
]


def word(r, script, size):
    ranges = RANGES[script]
    return "".join(chr(r.randint(*r.choice(ranges))) for _ in range(size))


def few(r, script):
    """Words of a small alphabet, which come again."""
    first, last = r.choice(RANGES[script][:1])
    return "".join(chr(min(last, first + r.randrange(8)))
                   for _ in range(r.randint(1, 5)))


def odd(r):
    kind = r.randrange(9)
    if kind == 0:
        return r.choice(EMOJI)
    if kind == 1:
        return r.choice(CODE)
    if kind == 2:
        return r.choice(SPACES) * r.randint(1, 3)
    if kind == 3:
        return r.choice(CONTROLS)
    if kind == 4:
        return r.choice("aeiouAqnс가か") + "".join(
            r.choice(MARKS) for _ in range(r.randint(1, 3)))
    if kind == 5:
        return r.choice(COMPATIBLE)
    if kind == 6:
        return str(r.randrange(10 ** r.randint(1, 9)))
    if kind == 7:
        return "".join(r.choice("!?.,;:-—_'\"()[]{}«»„“”、。！？¿¡#$%&*+/<=>@\\^`|~")
                       for _ in range(r.randint(1, 4)))
    return chr(r.choice([r.randrange(0x20, 0xD800), r.randrange(0xE000, 0x3000 + 0xE000 - 0x1100),
                         r.randrange(0x10000, 0x1F9FF)]))


def assigned(text):
    """Leaves out characters that Unicode 13 does not have."""
    import unicodedata
    return "".join(c for c in text if unicodedata.category(c) != "Cn")


def line(r):
    script = r.choice(list(RANGES))
    parts = []
    for _ in range(r.randint(1, 14)):
        x = r.random()
        if x < 0.45:
            parts.append(word(r, script, r.randint(1, 9)))
        elif x < 0.7:
            parts.append(few(r, script))
        elif x < 0.78:
            parts.append(word(r, r.choice(list(RANGES)), r.randint(1, 5)))
        else:
            parts.append(odd(r))
        if r.random() < 0.75:
            parts.append(" " if r.random() < 0.9 else r.choice(SPACES))
    return assigned("".join(parts))


def lines(count, seed=1):
    r = random.Random(seed)
    made = list(SENTENCES)
    suites = os.environ.get("SINTER_SUITES")
    if suites and count > 2000:
        path = os.path.join(suites, "data/text/tinyshakespeare.txt")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                made += file.read().split("\n")[:1000]
    while len(made) < count:
        made.append(line(r))
    return made[:count]
