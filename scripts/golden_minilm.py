#!/usr/bin/env python3
"""Writes crates/encode/tests/golden/minilm.json: texts, token counts and vectors by sentence-transformers.

Needs the model under $PERICOPE_HOME (`pericope models pull minilm`) and `pip install sentence-transformers`:

    python3 -m venv golden-venv && golden-venv/bin/pip install sentence-transformers
    golden-venv/bin/python scripts/golden_minilm.py

Vectors are single precision on a CPU, rounded to 6 digits. Token counts include [CLS] and [SEP] and end at 256.
"""

import json
import os
import pathlib
import sys

LONG_STORY = (
    "The harbour office kept its ledgers in a cupboard that nobody had opened since the flood. When the new clerk "
    "asked for the tide tables of the last ten years, the keeper sighed, found the key, and began to read aloud. "
)
LONG_LIST = "; ".join(f"valve {i} was set to {i * 37 % 101}.{i % 10} bar and checked by crew {i % 7}" for i in range(60))

TEXTS = [
    # short and almost empty
    "a",
    "Hello.",
    "No",
    " ",
    "\t\n ",
    "?!",
    "...",
    "The",
    "42",
    "I agree",
    # plain sentences on varied subjects
    "A segment ends where the topic changes.",
    "The glacier has lost a third of its ice since the first survey was made in 1931.",
    "Knead the dough for ten minutes, then let it rest under a damp cloth until it has doubled.",
    "Her lawyer argued that the contract had never been signed by anyone who was allowed to sign it.",
    "Photosynthesis turns light, water and carbon dioxide into sugar and oxygen.",
    "The orchestra tuned, the lights went down, and somebody in the third row began to cough.",
    "To restore a backup, stop the service, copy the folder back and start the service again.",
    "Interest is compounded monthly, so the effective yearly rate is higher than twelve times the monthly one.",
    "How do I change the port on which the server listens?",
    "What is the difference between a mutex and a semaphore?",
    "Why does my cat stare at the wall at night?",
    "He ran faster than he ever had, and still the bus left without him.",
    "He did not run at all; the bus had left an hour earlier.",
    "Bees communicate the distance and direction of flowers by a dance on the comb.",
    "The patient was given 5 mg twice daily and showed no adverse reaction after 14 days.",
    "Rain is expected in the north by the evening, with gusts of up to 80 km/h along the coast.",
    "The treaty of 1648 ended a war that had lasted thirty years.",
    "Our train was cancelled; the next one goes at 17:42 from platform 9.",
    "Fold the left corner to the middle line and turn the sheet over.",
    "A prime number has exactly two divisors: one and itself.",
    "IN CASE OF FIRE DO NOT USE THE LIFT",
    "don't can't won't it's they're o'clock rock'n'roll",
    # over the limit of 256 tokens
    LONG_STORY * 8,
    LONG_LIST,
    "word " * 254,
    "word " * 255,
    "word " * 400,
    "x" * 300,
    "An identifier of three hundred letters follows: " + "k" * 300 + " and then the sentence goes on.",
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    # other scripts
    "今日は天気がいいので、公園を散歩しました。",
    "我们明天早上八点在火车站见面。",
    "오늘 회의는 세 시에 시작합니다.",
    "Сегодня вечером мы пойдём в театр.",
    "مرحبا، كيف حالك اليوم؟",
    "هَذَا كِتَابٌ جَدِيدٌ",
    "שלום, מה שלומך?",
    "नमस्ते, आप कैसे हैं?",
    "สวัสดีครับ วันนี้อากาศดีมาก",
    "Καλημέρα, τι κάνεις σήμερα;",
    "Tiếng Việt có nhiều dấu thanh khác nhau.",
    "Türkçe: İstanbul'da ılık bir akşam, ığdır şehrinden uzakta.",
    # accents and odd characters
    "Café, naïve, façade, jalapeño, Ångström, Škoda, Łódź.",
    "Cafe\u0301 with a combining accent and cafe\u0301s in the plural",
    "soft\u00adhyphen, zero\u200bwidth, no\u00a0break, bell\u0007, and a byte order mark \ufeffhere",
    "“Quotes” ‘single’ – dash — long dash… and an ellipsis",
    "ﬁne ligatures, ½ a cup, x² + y² = z², 5 ≠ 6, ∑ and ∞",
    "Full-width ＡＢＣ１２３ and circled ①②③",
    # emoji
    "Great work! 🎉🎉 See you tomorrow 👋🏽",
    "👩\u200d👩\u200d👧\u200d👦 🇩🇪 🏳️\u200d🌈 ❤️",
    "🙂",
    # code, addresses, numbers
    "fn main() { let v: Vec<u8> = std::env::args().map(|a| a.len() as u8).collect(); println!(\"{v:?}\"); }",
    "SELECT name, COUNT(*) FROM users WHERE created_at >= '2024-01-01' GROUP BY name HAVING COUNT(*) > 3;",
    "for (int i = 0; i < n; ++i) { sum += a[i] * b[i]; } // dot product",
    "https://example.org/docs/guide/install.html?version=2.1&lang=en#step-3",
    "Write to someone.else+test@mail.example.com or call +49 (0)30 1234-5678.",
    "/usr/local/lib/python3.11/site-packages/__init__.py",
    "3.14159265358979 2.71828 1e-12 0xDEADBEEF 1,234,567.89 -40°C 99.9%",
    "2026-11-20T08:15:30Z",
    "sha256:53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "[CLS] these look like [SEP] special tokens [MASK] but [cls] is not [UNK] [PAD]",
    "| column | another |\n|---|---|\n| 1 | 2 |",
    "# A heading\n\nAnd **bold** text with a [link](https://example.org).",
    "line one\r\nline two\r\n\r\nline four",
]


def main():
    try:
        from sentence_transformers import SentenceTransformer, __version__

        try:
            from sentence_transformers.sentence_transformer import modules
        except ImportError:  # before version 6
            from sentence_transformers import models as modules
    except ImportError:
        sys.exit(__doc__)
    home = os.environ.get("PERICOPE_HOME")
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    folder = pathlib.Path(home or pathlib.Path(data, "pericope"), "models", "minilm")
    if not (folder / "model.safetensors").exists():
        sys.exit(f"{folder} has no model: run `pericope models pull minilm`")

    reader = modules.Transformer(str(folder), max_seq_length=256)
    size = reader.get_embedding_dimension() if hasattr(reader, "get_embedding_dimension") else 384
    model = SentenceTransformer(modules=[reader, modules.Pooling(size, "mean"), modules.Normalize()], device="cpu")
    vectors = model.encode(TEXTS, batch_size=1, convert_to_numpy=True)
    tokens = [len(model.tokenizer(text, truncation=True, max_length=256)["input_ids"]) for text in TEXTS]

    path = pathlib.Path(__file__).parent.parent / "crates/encode/tests/golden/minilm.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        json.dumps(
            {"text": text, "tokens": count, "vector": [round(float(v), 6) for v in vector]},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for text, count, vector in zip(TEXTS, tokens, vectors)
    ]
    head = json.dumps(f"sentence-transformers {__version__}, CPU, scripts/golden_minilm.py")
    path.write_text(f'{{"source":{head},"rows":[\n' + ",\n".join(rows) + "\n]}\n", encoding="utf-8")
    print(f"{path}: {len(rows)} texts, {min(tokens)} to {max(tokens)} tokens")


if __name__ == "__main__":
    main()
