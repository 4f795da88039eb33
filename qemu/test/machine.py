# SPDX-License-Identifier: GPL-2.0-or-later
"""One exact machine: started cold, stopped for an image, resumed from it."""

import json
import os
import resource
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def initramfs(path, files):
    """A newc archive of files ({name: path}), the same for the same files."""
    out = bytearray()

    def entry(name, mode, data):
        nonlocal out
        header = [len(out) + 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0,
                  len(name) + 1, 0]
        out += b"070701" + b"".join(b"%08X" % field for field in header)
        out += name.encode() + b"\0"
        out += b"\0" * (-len(out) % 4) + data
        out += b"\0" * (-len(out) % 4)

    directories = set()
    for name in sorted(files):
        parts = name.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            directory = "/".join(parts[:depth])
            if directory not in directories:
                directories.add(directory)
                entry(directory, 0o040755, b"")
        with open(files[name], "rb") as file:
            entry(name, 0o100755, file.read())
    entry("TRAILER!!!", 0, b"")
    with open(path, "wb") as file:
        file.write(out)


def build_guest(directory):
    """Compiles guest.c and packs it as process 1, with what it may run."""
    guest = os.path.join(directory, "guest")
    subprocess.run(["gcc", "-O2", "-Wall", "-static", "-pthread", "-o", guest,
                    os.path.join(HERE, "guest.c")], check=True)
    files = {"init": guest}
    cyclictest = shutil.which("cyclictest")
    if cyclictest:
        files["bin/cyclictest"] = cyclictest
        libraries = subprocess.run(["ldd", cyclictest], check=True,
                                   capture_output=True, text=True).stdout
        for word in libraries.split():
            if word.startswith("/"):
                files[word.lstrip("/")] = word
    path = os.path.join(directory, "initramfs")
    initramfs(path, files)
    return path


class Machine:
    """What all QEMUs of one machine have in common."""

    def __init__(self, qemu, firmware, kernel, archive, cpus=1,
                 icount="shift=0,sleep=off,parallel=on", turns_us=0, words="",
                 host_cpu=None, memory=256):
        self.qemu, self.firmware = qemu, firmware
        self.kernel, self.archive = kernel, archive
        self.cpus, self.icount, self.turns_us = cpus, icount, turns_us
        self.words, self.host_cpu, self.memory = words, host_cpu, memory

    def command(self, directory, image, job, share, more):
        arguments = [self.qemu]
        for place in self.firmware:
            arguments += ["-L", place]
        job_file = os.path.join(directory, "job")
        with open(job_file, "w") as file:
            file.write(job or " ")
        ram = os.path.join(image, "ram")
        arguments += [
            "-M", "microvm,rtc=on,memory-backend=mem",
            "-cpu", "qemu64,+arat", "-icount", self.icount,
            "-rtc", "base=2026-01-01,clock=vm", "-smp", str(self.cpus),
            "-m", str(self.memory), "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot", "-parallel", "none",
            "-object", f"memory-backend-file,id=mem,size={self.memory}M,"
            f"share={'on' if share else 'off'},mem-path={ram}",
            "-kernel", self.kernel, "-initrd", self.archive,
            "-append", "console=ttyS0 quiet panic=-1 nokaslr tsc=reliable "
            "cryptomgr.notests " + self.words,
            "-chardev", f"file,id=answer,path={directory}/answer",
            "-device", "isa-debugcon,chardev=answer,iobase=0xe9",
            "-chardev", f"file,id=console,path={directory}/console",
            "-serial", "chardev:console",
            "-device", "isa-debug-exit,iobase=0xf4,iosize=4",
            "-device", "pvpanic,ioport=0x505",
            "-fw_cfg", f"name=opt/assize/job,file={job_file}",
            "-qmp", "stdio"] + more
        if self.turns_us:
            arguments += [
                "-netdev", "hubport,id=turn,hubid=0",
                "-object", "filter-buffer,id=turns,netdev=turn,queue=rx,"
                f"interval={self.turns_us}"]
        return arguments

    def start(self, *arguments):
        def bind():
            if self.host_cpu is not None:
                os.sched_setaffinity(0, {self.host_cpu})
        return subprocess.Popen(self.command(*arguments), preexec_fn=bind,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def make_image(self, image):
        """Boots until the guest stops itself, and saves what it is then."""
        os.makedirs(image, exist_ok=True)
        process = self.start(image, image, "", True,
                             ["-action", "panic=pause"])
        self._until(process, "STOP")
        self._execute(process, "migrate", uri=f"exec:cat > {image}/state")
        self._until(process, "MIGRATION", "completed")
        process.stdin.write(b'{"execute": "quit"}\n')
        process.communicate()

    def resume(self, image, job, icount=None):
        """Goes on from an image; gives its answer and the CPU time it took."""
        with tempfile.TemporaryDirectory(dir=os.path.dirname(image)) as place:
            was, self.icount = self.icount, icount or self.icount
            process = self.start(place, image, job, False,
                                 ["-incoming", "defer"])
            self.icount = was
            self._execute(process, "migrate-set-capabilities", capabilities=[
                {"capability": "events", "state": True}])
            self._execute(process, "migrate-set-parameters",
                          **{"announce-rounds": 0})
            self._execute(process, "migrate-incoming",
                          uri=f"exec:cat {image}/state")
            self._until(process, "MIGRATION", "completed")
            self._execute(process, "cont")
            return self._end(process, place)

    def cold(self, directory, job):
        """Boots and goes right on."""
        image = tempfile.mkdtemp(dir=directory)
        try:
            process = self.start(image, image, job, True,
                                 ["-action", "panic=none"])
            return self._end(process, image)
        finally:
            shutil.rmtree(image)

    @staticmethod
    def _end(process, place):
        out, error = process.stdout, process.stderr.read()
        out.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        process.stdin.close()
        with open(os.path.join(place, "answer"), errors="replace") as file:
            answer = file.read()
        if os.waitstatus_to_exitcode(status) != 1:
            with open(os.path.join(place, "console"), errors="replace") as f:
                answer += f"ended: {status} {error.decode()} {f.read()[-400:]}"
        return answer, usage.ru_utime + usage.ru_stime

    @staticmethod
    def _read(process):
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(process.stderr.read().decode() or "QEMU ended")
        return json.loads(line)

    def _execute(self, process, command, **arguments):
        if not getattr(process, "greeted", False):
            process.greeted = True
            self._send(process, "qmp_capabilities")
        self._send(process, command, **arguments)

    def _send(self, process, command, **arguments):
        text = json.dumps({"execute": command, "arguments": arguments})
        process.stdin.write(text.encode() + b"\n")
        process.stdin.flush()
        while True:
            message = self._read(process)
            if "return" in message:
                return
            if "error" in message:
                raise RuntimeError(f"{command}: {message['error']}")
            process.seen = getattr(process, "seen", []) + [message]

    def _until(self, process, event, status=None):
        if not getattr(process, "greeted", False):
            process.greeted = True
            self._send(process, "qmp_capabilities")
            self._send(process, "migrate-set-capabilities", capabilities=[
                {"capability": "events", "state": True}])
        seen = getattr(process, "seen", [])
        while True:
            message = seen.pop(0) if seen else self._read(process)
            data = message.get("data", {})
            if message.get("event") == event and (
                    status is None or data.get("status") == status):
                return
            if event == "MIGRATION" and data.get("status") == "failed":
                raise RuntimeError("migration failed")
