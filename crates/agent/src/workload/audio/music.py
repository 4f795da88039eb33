#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the sound of music.mp3, 16 bits, stereo, 48 kHz, to standard output.

Twelve notes of a quarter of a second, each three partials that fade, now more
on the left and now more on the right, with a little noise. lame 3.100 makes
music.mp3 of it, frames of 384 bytes of which none refers to another:

    ./music.py | lame -r -s 48 --bitwidth 16 --signed --little-endian -m j \
        --cbr -b 128 --nores -t --noreplaygain - music.mp3
"""

import math
import struct
import sys

RATE = 48000
NOTES = [261.63, 329.63, 392.0, 523.25, 440.0, 349.23,
         293.66, 392.0, 493.88, 587.33, 392.0, 261.63]
state = 1


def noise():
    global state
    state = (1103515245 * state + 12345) % 2**31
    return state / 2**30 - 1


sound = bytearray()
for number, pitch in enumerate(NOTES):
    for sample in range(RATE // 4):
        time = sample / RATE
        tone = sum(math.sin(2 * math.pi * pitch * k * time) / k for k in (1, 2, 3))
        for side in (0.6, 0.4) if number % 2 else (0.4, 0.6):
            value = 0.5 * side * tone * math.exp(-6 * time) + 0.02 * noise()
            sound += struct.pack("<h", round(max(-1, min(1, value)) * 32767))
sys.stdout.buffer.write(sound)
