"""The palette is colour-blind safe: distances between its colours as normal and colour-blind readers see them."""

from __future__ import annotations

import numpy as np
import pytest

from lns.instances.draw.palette import GROUP_SIZE, PALETTE

# What a dichromat sees, on linear RGB: Machado, Oliveira & Fernandes 2009, table 1, severity 1.0.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(colours: np.ndarray, vision: str) -> np.ndarray:
    """CIELAB coordinates (D65) of sRGB colours from 0 to 255 as a reader of this vision sees them."""
    part = np.asarray(colours, dtype=float) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    xyz = np.clip(linear @ VISION[vision].T, 0, 1) @ XYZ.T / WHITE
    x, y, z = np.moveaxis(np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29), -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def ciede2000(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The CIEDE2000 distance of CIELAB colours (Sharma, Wu & Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = np.moveaxis(first, -1, 0), np.moveaxis(second, -1, 0)
    chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1 + 0.5 * (1 - np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    c1, c2 = np.hypot(a1 * stretch, b1), np.hypot(a2 * stretch, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1 * stretch)), np.degrees(np.arctan2(b2, a2 * stretch))
    turn = np.where(c1 * c2 == 0, 0, (h2 - h1 + 180) % 360 - 180)
    lightness, c, hue = (l1 + l2) / 2, (c1 + c2) / 2, np.where(c1 * c2 == 0, h1 + h2, h1 + turn / 2)
    cosines = [(0.17, 1, -30), (-0.24, 2, 0), (-0.32, 3, 6), (0.2, 4, -63)]
    t = 1 - sum(weight * np.cos(np.radians(times * hue + shift)) for weight, times, shift in cosines)
    dl = (l2 - l1) / (1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * c)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * c * t)
    angle = np.radians(60 * np.exp(-(((hue % 360 - 275) / 25) ** 2)))
    rotation = -2 * np.sqrt(c**7 / (c**7 + 25.0**7)) * np.sin(angle)
    return np.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh)


def smallest_distance(colours: np.ndarray, vision: str) -> float:
    seen = lab(colours, vision)
    distances = ciede2000(seen[:, None], seen[None])
    return float(distances[np.triu_indices(len(colours), 1)].min())


def test_distances_are_those_of_the_published_pairs() -> None:
    """Pairs 1 and 17 of Sharma, Wu & Dalal 2005, table 1."""
    pairs = np.array([[(50, 2.6772, -79.7751), (50, 2.5, 0)], [(50, 0, -82.7485), (73, 25, -18)]])
    assert ciede2000(*pairs) == pytest.approx([2.0425, 27.1492], abs=1e-4)


@pytest.mark.parametrize("group", range(len(PALETTE) // GROUP_SIZE))
@pytest.mark.parametrize(
    ("vision", "least"), [("normal", 14), ("protanopia", 13), ("deuteranopia", 13), ("tritanopia", 8)]
)
def test_colours_under_one_pattern_are_told_apart(group: int, vision: str, least: float) -> None:
    colours = np.array(PALETTE[group * GROUP_SIZE : (group + 1) * GROUP_SIZE])
    assert smallest_distance(colours, vision) > least


@pytest.mark.parametrize(("count", "least"), [(8, 24), (24, 13), (40, 10)])
def test_normal_vision_tells_colours_apart_without_patterns(count: int, least: float) -> None:
    assert smallest_distance(np.array(PALETTE[:count]), "normal") > least
