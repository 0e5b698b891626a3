"""The colours in which a puzzle's colours are drawn: 40 that stay apart for colour-blind readers too.

Forty hues cannot all be told apart without red or green, so the palette has groups of eight. Inside a group every two
colours stay well apart under simulated protanopia and deuteranopia. Pictures that can draw patterns give each group its
own (`pattern_number`), so that hue and pattern together identify a colour; text pictures use letters.
"""

from __future__ import annotations

from functools import cache

Rgb = tuple[int, int, int]

GREY: Rgb = (140, 140, 140)  # the rim
BACKGROUND: Rgb = (28, 28, 28)
EMPTY: Rgb = (58, 58, 58)
MISMATCH: Rgb = (255, 0, 0)
CLUE: Rgb = (255, 255, 255)
NO_FRAME: Rgb = (255, 255, 255)  # around a board without frame

# One group a line. Chosen by a search that maximised the smallest CIEDE2000 distance inside each group over normal,
# protanope and deuteranope vision (tests/instances/test_draw.py states the distances). All lie on the 6x6x6 cube of
# 256-colour terminals, which therefore show exactly these colours.
GROUP_SIZE = 8
_HEX = """
ffff00 5f00af 005f00 af87ff d7875f ffd7ff 008787 d7ffd7
00d7af 87005f af0000 5faf00 afff87 875faf 87afd7 af5f5f
afd700 005f87 00d7ff 87af87 008700 5f5fff d787af ffffaf
af00d7 00ffaf ffafff 00875f ff005f ffaf5f af5f87 d75fd7
005fd7 ffd75f 00ffff af5f00 5fafaf 5f87af d7af87 d78700
"""
PALETTE: tuple[Rgb, ...] = tuple((int(text[:2], 16), int(text[2:4], 16), int(text[4:], 16)) for text in _HEX.split())


def rgb(colour: int) -> Rgb:
    """Red, green and blue (0 to 255) of a puzzle's colour: grey for 0, then the palette, repeated after 40 colours."""
    return GREY if colour == 0 else PALETTE[(colour - 1) % len(PALETTE)]


def pattern_number(colour: int) -> int:
    """Number of the pattern that is drawn over a puzzle's colour; 0 is plain. Every 8 colours have another one."""
    return max(0, colour - 1) // GROUP_SIZE


def hex_code(value: Rgb) -> str:
    """Six hexadecimal digits, upper case."""
    return "{:02X}{:02X}{:02X}".format(*value)


@cache
def xterm(value: Rgb) -> int:
    """Number of the nearest of the 240 fixed colours (16 to 255) of a 256-colour terminal."""
    steps = (0, 95, 135, 175, 215, 255)
    near = [min(range(6), key=lambda i, part=part: abs(steps[i] - part)) for part in value]  # type: ignore[misc]
    cube = 16 + 36 * near[0] + 6 * near[1] + near[2], tuple(steps[i] for i in near)
    shade = min(23, max(0, round((sum(value) / 3 - 8) / 10)))
    ramp = 232 + shade, (8 + 10 * shade,) * 3
    return min(cube, ramp, key=lambda entry: sum((a - b) ** 2 for a, b in zip(entry[1], value, strict=True)))[0]
