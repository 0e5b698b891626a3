"""The 40 colours in which a puzzle's colours are drawn, chosen for colour-blind readers too.

People who do not see red or green cannot tell 40 colours apart, but they can tell eight apart. So the palette has five
groups of eight: any two colours of one group look different under simulated protanopia and deuteranopia; colours of two
groups may look alike. SVG pictures therefore give each colour a motif too, and text without colour has letters.
"""

from __future__ import annotations

from functools import cache
from itertools import product

Rgb = tuple[int, int, int]

GREY: Rgb = (140, 140, 140)  # colour of grey sides
BACKGROUND: Rgb = (28, 28, 28)
EMPTY: Rgb = (58, 58, 58)
MISMATCH: Rgb = (255, 0, 0)
CLUE: Rgb = (255, 255, 255)
NO_FRAME: Rgb = (255, 255, 255)  # colour of the area around a board without frame

# Each line is a group of eight colours, chosen by a search that maximised the smallest CIEDE2000 distance inside each
# group over normal, protanope and deuteranope vision (tests/instances/test_draw.py has distances in OKLab). All
# colours lie on the 6x6x6 cube of 256-colour terminals, which therefore show exactly these colours.
_HEX = """
ffff00 5f00af 005f00 af87ff d7875f ffd7ff 008787 d7ffd7
00d7af 87005f af0000 5faf00 afff87 875faf 87afd7 af5f5f
afd700 005f87 00d7ff 87af87 008700 5f5fff d787af ffffaf
af00d7 00ffaf ffafff 00875f ff005f ffaf5f af5f87 d75fd7
005fd7 ffd75f 00ffff af5f00 5fafaf 5f87af d7af87 d78700
"""
PALETTE: tuple[Rgb, ...] = tuple((int(text[:2], 16), int(text[2:4], 16), int(text[4:], 16)) for text in _HEX.split())


def rgb(colour: int) -> Rgb:
    """Return red, green and blue (0 to 255) of a puzzle's colour: grey for 0, then the 40 of the palette in turn."""
    return GREY if colour == 0 else PALETTE[(colour - 1) % len(PALETTE)]


MOTIFS = (
    "m-5 0a5 5 0 0 0 10 0z",  # disc
    "m-7 0l5.4 1.6l1.6 5.4l1.6 -5.4l5.4 -1.6z",  # star of four rays
    "m-4.6 0l0 4.6l9.2 0l0 -4.6z",  # square
    "m-6 0l0 2l4 0l0 4l4 0l0 -4l4 0l0 -2z",  # plus
    "m-5 6.5l10 0l-5 -6.5z",  # hourglass
    "m-5.6 0a5.6 5.6 0 0 0 11.2 0l-2.8 0a2.8 2.8 0 0 1 -5.6 0z",  # ring
    "m-6.5 0l0 3.2l5.5 -2.2l-2.2 5.5l6.4 0l-2.2 -5.5l5.5 2.2l0 -3.2z",  # cross of four wedges
    "m-7 0l3.7 1.4l-1.6 3.5l3.5 -1.6l1.4 3.7l1.4 -3.7l3.5 1.6l-1.6 -3.5l3.7 -1.4z",  # star of eight rays
    "m-6.2 0l6.2 6.2l6.2 -6.2z",  # diamond
    "m-1.7 0l0 7l3.4 0l0 -7z",  # upright bar
    "m-6.6 0a2.6 2.6 0 0 0 5.2 0zm8 0a2.6 2.6 0 0 0 5.2 0z",  # two discs side by side
    "m-2 0l-4 4l2 2l4 -4l4 4l2 -2l-4 -4z",  # saltire
    "m-7 0q7 9 14 0z",  # eye
    "m-5.2 0l0 5.2l10.4 0l0 -5.2l-2.6 0l0 2.6l-5.2 0l0 -2.6z",  # hollow square
    "m-1.6 0l0 3.4l-3.4 0l5 3.8l5 -3.8l-3.4 0l0 -3.4z",  # upright double arrow
    "m-6.6 0a2 2 0 0 0 4 0zm9.2 0a2 2 0 0 0 4 0zm-4.6 4.6a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z",  # four discs
    "m-2.4 0a2.4 2.4 0 0 0 4.8 0zm.2 5.4a2.2 2.2 0 1 0 4.4 0a2.2 2.2 0 1 0 -4.4 0z",  # three discs in a column
    "m-7.2 0l7.2 7.2l7.2 -7.2l-3 0l-4.2 4.2l-4.2 -4.2z",  # hollow diamond
    "m-5.6 0l0 5.6l3 0l0 -5.6zm8.2 0l0 5.6l3 0l0 -5.6z",  # two upright bars
    "m-5.6 3.6a2 2 0 1 0 4 0a2 2 0 1 0 -4 0zm7.2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z",  # four discs in a square
    "m-2.6 0q0 3.2 -3 6q2.8 -2.6 5.6 -2.6q2.8 0 5.6 2.6q-3 -2.8 -3 -6z",  # slanted star of four rays
    "m-5.4 0l0 1.3l10.8 0l0 -1.3zm0 3.2l0 2.2l10.8 0l0 -2.2z",  # three horizontal bars
    "m-6.2 0a3 3 0 0 0 4.4 2.4a2.5 2.5 0 1 0 3.6 0a3 3 0 0 0 4.4 -2.4z",  # flower
    "m-1.7 0a1.7 1.7 0 0 0 3.4 0zm-4.1 0a5.8 5.8 0 0 0 11.6 0l-1.8 0a4 4 0 0 1 -8 0z",  # target
)
"""Half of each colour motif, as SVG path data from the middle of the upper side of a cell that is 24 units wide.

Left and right mirror each other. So the same half, turned by half a turn on the other piece, completes the motif.
"""


def motif(colour: int) -> tuple[str, bool]:
    """Return the half motif of a colour, and whether only its outline is drawn (colours 25 to 48, 73 to 96, ...)."""
    repeats, index = divmod(colour - 1, len(MOTIFS))
    return MOTIFS[index], repeats % 2 == 1


SOCKET = "m-9.5 0l0 1.5l6 6.5l7 0l6 -6.5l0 -1.5z"
"""A plate for sides with the second of two mates, as path data like `MOTIFS`; the motif looks like a hole in it."""


def ink(ground: Rgb) -> str:
    """Return black or white, whichever stands out more on the background colour ``ground``."""
    red, green, blue = ground
    return "#000" if 0.299 * red + 0.587 * green + 0.114 * blue > 120 else "#fff"


def inked(ground: Rgb) -> Rgb:
    """Return the mean of a colour and its `ink`, to draw the second of two mates where no motifs are drawn."""
    cover = 0 if ink(ground) == "#000" else 255
    red, green, blue = ((part + cover) // 2 for part in ground)
    return red, green, blue


def hex_code(value: Rgb) -> str:
    """Return a colour as six upper-case hexadecimal digits."""
    return "{:02X}{:02X}{:02X}".format(*value)


_FIXED = [*product((0, 95, 135, 175, 215, 255), repeat=3), *((level,) * 3 for level in range(8, 248, 10))]


@cache
def xterm(value: Rgb) -> int:
    """Return the number of the nearest of the 240 fixed colours (16 to 255) of a 256-colour terminal."""
    distances = [sum((a - b) ** 2 for a, b in zip(fixed, value, strict=True)) for fixed in _FIXED]
    return 16 + distances.index(min(distances))
