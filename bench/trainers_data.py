"""Data that './dev bench trainers' makes up, where what a trainer makes up itself is of another size."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "trainers"))
from png_file import write_png

VOCABULARY = 30522  # of BERT
SIXTEEN = bytes(value & 0xF0 for value in range(256))  # colours that a PNG packs to about half


def make_pictures(folder, count, side):
    """So many to learn from, in two classes, and one of each to evaluate with, which takes no time then."""
    draw = random.Random(1)
    for half, pictures in {"train": count, "val": 2}.items():
        for number in range(pictures):
            path = pathlib.Path(folder) / half / f"class{number % 2}"
            path.mkdir(parents=True, exist_ok=True)
            write_png(path / f"{number}.png", draw.randbytes(side * side * 3).translate(SIXTEEN), side, side)


def make_texts(folder, count, words):
    """Texts in which every word is a token, and a vocabulary as large as that of BERT."""
    draw, folder = random.Random(1), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    known = [f"word{number}" for number in range(VOCABULARY - len(special))]
    (folder / "vocab.txt").write_text("\n".join(special + known) + "\n")
    for name, texts in {"train.csv": count, "test.csv": 4}.items():
        rows = [f"{' '.join(draw.choices(known, k=words))},{number % 4}" for number in range(texts)]
        (folder / name).write_text("text,label\n" + "\n".join(rows) + "\n")
