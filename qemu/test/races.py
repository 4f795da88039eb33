#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two planted races: which seeds find them, and is each replayed by its own?

The image is made with seed 0. Each seed goes on from it twice."""

import argparse
import os
import sys
import tempfile

from machine import Machine, build_guest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--qemu", required=True)
    parser.add_argument("--firmware", action="append", default=[])
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--seeds", type=int, default=40)
    given = parser.parse_args()

    icount = "shift=0,sleep=off,parallel=on"
    lost, early, different, answers = 0, 0, 0, set()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as place:
        machine = Machine(given.qemu, given.firmware, given.kernel,
                          build_guest(place), 2, icount)
        image = os.path.join(place, "image")
        machine.make_image(image)
        for seed in range(1, given.seeds + 1):
            twice = [machine.resume(image, "race publish",
                                    f"{icount},seed={seed}")[0]
                     for _ in range(2)]
            answers.add(twice[0])
            different += twice[0] != twice[1]
            lost += "race lost=0\n" not in twice[0]
            early += "publish early=0\n" not in twice[0]
    print(f"{given.seeds} seeds, {len(answers)} answers: {lost} lost an "
          f"update, {early} saw too early what was published; "
          f"{different} did otherwise when repeated")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
