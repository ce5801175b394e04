#!/usr/bin/env python3
"""Makes the files of this folder's tests, with Python's and Pillow's writers.

usage: make_files.py [FOLDER]

Needs NumPy and Pillow. The numbers that Pillow reads in the pictures go to
expected.npz.
"""

import csv
import gzip
import io
import json
import pathlib
import sqlite3
import struct
import sys
import zlib

import numpy as np
from PIL import Image

HEIGHT, WIDTH = 13, 9
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4),
          (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(kind, data):
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(
        ">I", zlib.crc32(body))


def packed_row(row, depth):
    """One row of samples as bytes; `row` is [pixels, samples]."""
    flat = row.reshape(-1)
    if depth == 16:
        return flat.astype(">u2").tobytes()
    if depth == 8:
        return flat.astype("u1").tobytes()
    bits = "".join(f"{int(value):0{depth}b}" for value in flat)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def png(samples, colour, depth, before=b"", interlaced=False):
    """A PNG of samples [height, width, samples], of any type that there is."""
    height, width = samples.shape[:2]
    raw = b""
    steps = PASSES if interlaced else [(0, 0, 1, 1)]
    for x, y, dx, dy in steps:
        part = samples[y::dy, x::dx]
        if part.shape[0] and part.shape[1]:
            raw += b"".join(b"\0" + packed_row(row, depth) for row in part)
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0,
                         interlaced)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before +
            chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def pictures(random):
    def noise(most, samples):
        return random.integers(0, most + 1, (HEIGHT, WIDTH, samples))

    palette = chunk(b"PLTE", bytes(random.integers(0, 256, 48).tolist()))
    grays = noise(255, 1)
    colours = noise(255, 3)
    yield "gray1.png", png(noise(1, 1), 0, 1), "L"
    yield "gray2.png", png(noise(3, 1), 0, 2), "L"
    yield "gray4-interlaced.png", png(noise(15, 1), 0, 4, b"", True), "L"
    yield "gray8.png", png(grays, 0, 8), "L"
    yield "gray16.png", png(noise(65535, 1), 0, 16), "high"
    yield "gray-key.png", png(grays, 0, 8, chunk(
        b"tRNS", struct.pack(">H", int(grays[2, 3, 0])))), "RGBA"
    yield "gray-alpha.png", png(noise(255, 2), 4, 8), "RGBA"
    yield "rgb8.png", png(colours, 2, 8), "RGB"
    yield "rgb8-interlaced.png", png(noise(255, 3), 2, 8, b"", True), "RGB"
    yield "rgb16.png", png(noise(65535, 3), 2, 16), "RGB"
    yield "rgb-key.png", png(colours, 2, 8, chunk(b"tRNS", struct.pack(
        ">HHH", *[int(value) for value in colours[4, 5]]))), "RGBA"
    yield "rgba8.png", png(noise(255, 4), 6, 8), "RGBA"
    yield "rgba16.png", png(noise(65535, 4), 6, 16), "RGBA"
    yield "palette4.png", png(noise(15, 1), 3, 4, palette), "RGB"
    yield "palette8-alpha.png", png(noise(15, 1), 3, 8, palette + chunk(
        b"tRNS", bytes([0, 128, 200]))), "RGBA"
    yield from photographs(random)


def photographs(random):
    """JPEGs of something smooth with noise on it."""
    y, x = np.mgrid[0:21, 0:35]
    smooth = np.stack([x * 7, y * 11, 255 - x * 3 - y * 4], -1)
    noisy = np.clip(smooth + random.integers(-20, 21, smooth.shape), 0, 255)
    picture = Image.fromarray(noisy.astype("u1"))
    turned = Image.Exif()
    turned[0x0112] = 6

    def saved(image, **options):
        file = io.BytesIO()
        image.save(file, "JPEG", **options)
        return file.getvalue()

    yield "rgb444.jpg", saved(picture, quality=90, subsampling=0), "RGB"
    yield "rgb420.jpg", saved(picture, quality=75, subsampling=2), "RGB"
    yield "progressive.jpg", saved(picture, progressive=True), "RGB"
    yield "gray.jpg", saved(picture.convert("L"), quality=85), "L"
    yield "cmyk.jpg", saved(picture.convert("CMYK"), quality=90), "RGB"
    yield "turned.jpg", saved(picture, exif=turned), "RGB"


def bomb():
    """A small PNG whose header says 10,000 x 10,000 pixels."""
    header = struct.pack(">IIBBBBB", 10000, 10000, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""))


def read(data, mode):
    image = Image.open(io.BytesIO(data))
    if mode == "high":
        return (np.asarray(image).astype("u2") >> 8).astype("u1")[..., None]
    pixels = np.asarray(image.convert(mode))
    return pixels if pixels.ndim == 3 else pixels[..., None]


PEOPLE = [
    {"name": "Ada", "note": "plain", "age": 36, "height": 1.65},
    {"name": "Bob \"B\" Smith", "note": "a, comma", "age": 7, "height": 1.2},
    {"name": "Zoë", "note": "two\nlines\r\nor three", "age": -1,
     "height": -0.5},
    {"name": "", "note": "\"", "age": 9007199254740993, "height": 1e300},
    {"name": " blanks ", "note": "\t;|", "age": 0, "height": 0.1},
    {"name": "\u65e5\u672c", "note": "\U0001f600", "age": 99, "height": 2.0},
]


def tables(folder):
    with open(folder / "people.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, PEOPLE[0])
        writer.writeheader()
        writer.writerows(PEOPLE)
    with open(folder / "people.jsonl", "w") as file:
        for person in PEOPLE:
            file.write(json.dumps(person) + "\n")
    (folder / "lines.jsonl.gz").write_bytes(gzip.compress(
        b'{"text": "a"}\n', mtime=0) + gzip.compress(b'{"text": "b"}\n'))
    (folder / "people.sqlite").unlink(missing_ok=True)
    with sqlite3.connect(folder / "people.sqlite") as database:
        database.execute("PRAGMA page_size=1024")
        database.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name "
                         "TEXT, note TEXT, age INTEGER, height REAL, tags "
                         "JSON, photo BLOB, gone TEXT)")
        for i, person in enumerate(PEOPLE):
            database.execute(
                "INSERT INTO people VALUES (?,?,?,?,?,?,?,?)",
                (10 + 3 * i, *person.values(),
                 json.dumps([person["age"], {"of": person["name"]}]),
                 bytes(range(i)), None))


def main(folder):
    random = np.random.default_rng(7)
    expected = {}
    for name, data, mode in pictures(random):
        (folder / name).write_bytes(data)
        expected[name] = read(data, mode)
    np.savez_compressed(folder / "expected.npz", **expected)
    (folder / "bomb.png").write_bytes(bomb())
    tables(folder)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent / "files"
    main(pathlib.Path(sys.argv[1]) if sys.argv[1:] else here)
