"""Colours for colours: 40 that can be told apart, and what is done when a puzzle has more."""

from __future__ import annotations

Rgb = tuple[int, int, int]

GREY: Rgb = (140, 140, 140)  # the rim
BACKGROUND: Rgb = (28, 28, 28)
EMPTY: Rgb = (58, 58, 58)
MISMATCH: Rgb = (255, 0, 0)
CLUE: Rgb = (255, 255, 255)

# Chosen greedily, each as far as possible (in OKLab) from those before and from black, white, greys and the red of
# mismatches, the most glaring left out: the first n are a good palette of n. All lie on the 6x6x6 cube of 256-colour
# terminals, so that those show the very same colours.
_HEX = """
5fd700 af5fff 005fd7 870087 008700 ffd700 ff87d7 00ffd7 00afff 870000
ff8700 d70087 00af87 af5f00 afaf00 875faf afafff afff87 5f00af 0087af
ff5f87 5f5f00 878700 5fd7ff 87d787 005f87 8787ff ffaf87 d78787 00af00
d75fd7 af5f87 0087ff ffd7ff 5f5fff 005f00 d7d787 00ff87 00875f afffd7
"""
PALETTE: tuple[Rgb, ...] = tuple((int(text[:2], 16), int(text[2:4], 16), int(text[4:], 16)) for text in _HEX.split())


def rgb(colour: int) -> Rgb:
    """Red, green, blue (0-255) of a puzzle's colour: 0 is grey, 1 to 40 the palette, then the palette over again."""
    return GREY if colour == 0 else PALETTE[(colour - 1) % len(PALETTE)]


def pattern_number(colour: int) -> int:
    """How often the palette was used up before this colour; pictures that can lay a pattern of this number over it."""
    return max(0, colour - 1) // len(PALETTE)


def hex_code(value: Rgb) -> str:
    """Six hexadecimal digits, upper case."""
    return "{:02X}{:02X}{:02X}".format(*value)


def xterm(value: Rgb) -> int:
    """The nearest of the 240 fixed entries (16-255) of a 256-colour terminal."""
    steps = (0, 95, 135, 175, 215, 255)
    near = [min(range(6), key=lambda i, part=part: abs(steps[i] - part)) for part in value]  # type: ignore[misc]
    cube = 16 + 36 * near[0] + 6 * near[1] + near[2], tuple(steps[i] for i in near)
    shade = min(23, max(0, round((sum(value) / 3 - 8) / 10)))
    ramp = 232 + shade, (8 + 10 * shade,) * 3
    return min(cube, ramp, key=lambda entry: sum((a - b) ** 2 for a, b in zip(entry[1], value, strict=True)))[0]
