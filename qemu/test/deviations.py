#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts runs that deviate: one guest, many runs, all bytes compared.

The images come from the QEMU under test. Each run goes on from one of
them, with the same job, on whatever else the host does meanwhile."""

import argparse
import collections
import os
import sys
import tempfile

from machine import Machine, build_guest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--qemu", required=True)
    parser.add_argument("--firmware", action="append", default=[])
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--icount", default="shift=0,sleep=off,parallel=on")
    parser.add_argument("--turns-us", type=int, default=0)
    parser.add_argument("--job", default="sleeps wake=0 wake=1")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--images", type=int, default=1)
    parser.add_argument("--cold", action="store_true",
                        help="one run of each image's boot without an image")
    parser.add_argument("--host-cpu", type=int)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()

    seen = collections.Counter()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as place:
        machine = Machine(given.qemu, given.firmware, given.kernel,
                          build_guest(place), given.cpus, given.icount,
                          given.turns_us, host_cpu=given.host_cpu)
        for number in range(given.images):
            image = os.path.join(place, f"image{number}")
            machine.make_image(image)
            for _ in range(given.runs):
                answer, _ = machine.resume(image, given.job)
                seen[answer] += 1
            if given.cold:
                answer, _ = machine.cold(place, given.job)
                seen[answer] += 1
    runs = sum(seen.values())
    usual = seen.most_common(1)[0][1]
    print(f"{runs} runs, {len(seen)} answers, {runs - usual} deviate")
    if given.show or len(seen) > 1:
        for answer, count in seen.most_common(4):
            print(f"--- {count} times\n{answer}", end="")
    return 1 if len(seen) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
