"""Random texts of the kinds that names, keys and headers are made of."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
# What encoders get wrong: reserved characters, spaces, percent signs, and text outside ASCII.
ODD = " +%/~-._=&?#:;,@!$'()*[]\"<>|^`{}\\äé€漢字🚀"


def word(draw, low=1, high=12, alphabet=LETTERS + DIGITS):
    return "".join(draw.choice(alphabet) for _ in range(draw.randint(low, high)))


def odd_word(draw, low=1, high=12):
    return word(draw, low, high, LETTERS + LETTERS.upper() + DIGITS + ODD)


def object_name(draw):
    """Segments that are neither empty nor dots: what our stores let through."""
    segments = []
    for _ in range(draw.randint(1, 4)):
        segment = odd_word(draw).replace("/", "x").replace("\\", "x")
        segments.append("x" if segment in (".", "..") else segment)
    return "/".join(segments)


def moment(draw):
    return draw.randint(1_000_000_000, 4_000_000_000)
