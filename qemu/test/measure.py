#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs jobs of guest.c on machines with some numbers of CPUs and prints
what they say, and the CPU time of the host that each took."""

import argparse
import os
import tempfile

from machine import Machine, build_guest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--qemu", required=True)
    parser.add_argument("--firmware", action="append", default=[])
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--cpus", default="1,2,4")
    parser.add_argument("--icount", default="shift=0,sleep=off,parallel=on")
    parser.add_argument("--resume-icount", action="append",
                        help="go on with these options, each in a run")
    parser.add_argument("--turns-us", type=int, default=0)
    parser.add_argument("--job", action="append", required=True)
    parser.add_argument("--words", default="")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--cold", action="store_true")
    given = parser.parse_args()

    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as place:
        archive = build_guest(place)
        for cpus in map(int, given.cpus.split(",")):
            machine = Machine(given.qemu, given.firmware, given.kernel,
                              archive, cpus, given.icount, given.turns_us,
                              given.words)
            image = os.path.join(place, f"image{cpus}")
            machine.make_image(image)
            for job in given.job:
                for icount in given.resume_icount or [given.icount]:
                    for _ in range(given.runs):
                        answer, took = machine.resume(image, job, icount)
                        print(f"{cpus} CPUs, {icount}: {took:.2f} s")
                        print(answer, end="", flush=True)
                if given.cold:
                    answer, took = machine.cold(place, job)
                    print(f"{cpus} CPUs, cold: {took:.2f} s\n{answer}", end="")


if __name__ == "__main__":
    main()
