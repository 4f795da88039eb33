#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a job of guest.c in Bochs, whose CPUs have nothing in common with
QEMU's, and prints what it says.

Needs Debian's packages bochs, isolinux, syslinux-common and xorriso. Each CPU
of Bochs executes one instruction in each of its ticks, of which there are as
many in a second as --ips says; an interrupt from one CPU to another and an
atomic instruction cost nothing more. So it is to be compared with
"parallel=on,atomic=0,ipi=0,pause=0".
"""

import argparse
import os
import resource
import shutil
import subprocess
import tempfile
import time

from machine import build_guest

ISOLINUX = "/usr/lib/ISOLINUX/isolinux.bin"
LDLINUX = "/usr/lib/syslinux/modules/bios/ldlinux.c32"
BIOS = "/usr/share/bochs"
WORDS = ("console=ttyS0 quiet panic=-1 nokaslr tsc=reliable "
         "cryptomgr.notests nomodeset")


def make_disc(place, kernel, archive, job, words):
    """An El Torito disc that boots the kernel with the job's words."""
    tree = os.path.join(place, "disc")
    os.makedirs(tree)
    shutil.copy(kernel, os.path.join(tree, "kernel"))
    shutil.copy(archive, os.path.join(tree, "initrd"))
    shutil.copy(ISOLINUX, tree)
    shutil.copy(LDLINUX, tree)
    with open(os.path.join(tree, "isolinux.cfg"), "w") as file:
        file.write("default it\nlabel it\n kernel kernel\n append "
                   f"initrd=initrd {WORDS} {words} job={job}\n")
    disc = os.path.join(place, "disc.iso")
    subprocess.run(["xorriso", "-as", "mkisofs", "-quiet", "-o", disc, "-b",
                    "isolinux.bin", "-c", "boot.cat", "-no-emul-boot",
                    "-boot-load-size", "4", "-boot-info-table", tree],
                   check=True)
    return disc


def configure(place, disc, given):
    """Writes Bochs' configuration; its clock is the count of instructions."""
    path = os.path.join(place, "bochsrc")
    with open(path, "w") as file:
        file.write(f"""config_interface: textconfig
display_library: {given.display}
romimage: file={BIOS}/BIOS-bochs-latest
vgaromimage: file={BIOS}/VGABIOS-lgpl-latest
megs: 512
cpu: model={given.model}, count={given.cpus}, ips={given.ips}, \
quantum={given.quantum}, reset_on_triple_fault=0
clock: sync=none, time0=1767225600
ata0-master: type=cdrom, path={disc}, status=inserted
boot: cdrom
port_e9_hack: enabled=1
com1: enabled=1, mode=file, dev={place}/console
log: {place}/log
panic: action=fatal
speaker: enabled=0
sound: driver=dummy
""")
    return path


def follow(process, path):
    """Gives the answer as soon as its last line is there."""
    while process.poll() is None:
        with open(path, errors="replace") as file:
            text = file.read()
        if "hash=" in text and text.endswith("\n"):
            process.kill()
            break
        time.sleep(1)
    process.wait()
    with open(path, errors="replace") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--ips", type=int, default=1000000000)
    parser.add_argument("--quantum", type=int, default=1)
    parser.add_argument("--model", default="corei7_sandy_bridge_2600k")
    parser.add_argument("--display", default="rfb, options=\"timeout=0\"")
    parser.add_argument("--job", required=True, help="words, with commas")
    parser.add_argument("--words", default="")
    given = parser.parse_args()

    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as place:
        archive = build_guest(place)
        disc = make_disc(place, given.kernel, archive, given.job, given.words)
        path = os.path.join(place, "answer")
        commands = os.path.join(place, "commands")
        with open(commands, "w") as file:  # Debian's has a debugger
            file.write("continue\n")
        with open(path, "w") as answer:
            process = subprocess.Popen(
                ["bochs", "-q", "-f", configure(place, disc, given),
                 "-rc", commands],
                stdin=subprocess.DEVNULL, stdout=answer,
                stderr=subprocess.STDOUT)
        text = follow(process, path)
        lines = text[text.find("cpus="):] if "cpus=" in text else text
        print(lines, end="")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"CPU s: {used.ru_utime + used.ru_stime:.1f}")
        if "hash=" not in text:
            with open(os.path.join(place, "console"), errors="replace") as f:
                raise SystemExit(f"it did not end: {f.read()[-1000:]}")


if __name__ == "__main__":
    main()
