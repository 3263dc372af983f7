"""Draws `corruptions.png`: one picture under every corruption of CIFAR-10-C, severities 1 to 5.

Run it as `python docs/make_corruption_sheet.py` after a change of a corruption.
"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from driftfold.arrays import Floats
from driftfold.data import FashionMnistCut
from driftfold.drift.corruptions import PUBLISHED, PUBLISHED_NAMES, SEVERITIES, Corruption
from driftfold.drift.corruptions.eight_bit import to_bytes
from driftfold.rng import Seed

FIGURE = Path(__file__).parent / "corruptions.png"
PICTURE = 40  # of the cut: a shirt
ZOOM, GAP, LABEL, BLOCKS = 2, 4, 112, 2


def sheet(
    picture: Floats,
    row: int,
    corruptions: tuple[Corruption, ...] = PUBLISHED,
    names: tuple[str, ...] = PUBLISHED_NAMES,
) -> Image.Image:
    """Return the sheet of one picture, shape (H, W, ch): a line for each corruption."""
    height, width = picture.shape[:2]
    tile = np.array([ZOOM * width + GAP, ZOOM * height + GAP])
    lines = -(-len(corruptions) // BLOCKS)
    block = LABEL + (1 + len(SEVERITIES)) * tile[0]
    drawn = Image.new("RGB", (int(BLOCKS * block), int(lines * tile[1] + GAP)), "white")
    pen = ImageDraw.Draw(drawn)
    for number, (corruption, name) in enumerate(zip(corruptions, names, strict=True)):
        left, top = number // lines * block, GAP + number % lines * tile[1]
        pen.text((left + GAP, top + tile[1] // 2 - 8), name.replace("_", " "), fill="black")
        for place, severity in enumerate((0, *SEVERITIES)):
            shown = picture
            if severity:
                shown = corruption.corrupt(picture[None], severity, np.array([row]))[0]
            tiled = to_bytes(np.broadcast_to(shown, (height, width, 3)))
            enlarged = Image.fromarray(tiled).resize(
                (ZOOM * width, ZOOM * height), Image.Resampling.NEAREST
            )
            drawn.paste(enlarged, (int(left + LABEL + place * tile[0]), int(top)))
    return drawn


if __name__ == "__main__":
    pool = FashionMnistCut().load(Seed(0)).x.reshape(-1, 28, 28, 1)
    sheet(pool[PICTURE], PICTURE).convert("L").save(FIGURE, optimize=True)
    print(FIGURE)
