#!/usr/bin/python3
"""Read what `assize --format FORMAT` prints as those who are meant to do, and
count: formats.py FORMAT [PLACE] < TEXT prints checks, failures and what is undecided.

Whatever a reader would refuse ends this with an error."""

import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

# Of a comment of GitHub, with room for who adds to it.
MOST = 65_000


def junit(text):
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites", root.tag
    counts = {"tests": 0, "failures": 0, "skipped": 0}
    for suite in root:
        assert suite.tag == "testsuite" and suite.get("name"), suite.tag
        own = {"tests": 0, "failures": 0, "skipped": 0}
        for case in suite:
            assert case.tag == "testcase" and case.get("name"), case.tag
            assert case.get("classname") == suite.get("name")
            own["tests"] += 1
            own["failures"] += len(case.findall("failure[@message]"))
            own["skipped"] += len(case.findall("skipped[@message]"))
        for what, n in own.items():
            assert int(suite.get(what)) == n, (what, n)
            counts[what] += n
    for what, n in counts.items():
        assert int(root.get(what)) == n, (what, n)
    return tuple(counts.values())


def ktap(text):
    """Documentation/dev-tools/ktap.rst of the kernel."""
    result = re.compile(r"(ok|not ok) (\d+) ([^#]+?)( # SKIP .+)?$")
    counts = [0, 0, 0]

    def level(lines, indent):
        assert lines.pop(0) == indent + "KTAP version 1"
        plan = re.fullmatch(re.escape(indent) + r"1\.\.(\d+)", lines.pop(0))
        words, below = [], None
        while lines and lines[0].startswith(indent):
            if lines[0].startswith(indent + "# "):
                lines.pop(0)
            elif lines[0].startswith(indent + "  "):
                below = level(lines, indent + "  ")
            else:
                match = result.fullmatch(lines.pop(0)[len(indent):])
                assert match and int(match[2]) == len(words) + 1, match
                words.append(match[1])
                if below is not None:
                    assert match[1] == ("not ok" if "not ok" in below else "ok")
                else:
                    counts[0] += 1
                    counts[1] += match[1] == "not ok"
                    counts[2] += bool(match[4])
                below = None
        assert len(words) == int(plan[1]), (words, plan[1])
        return words

    lines = text.splitlines()
    level(lines, "")
    assert not lines, lines
    return tuple(counts)


def kunit(text):
    """The kernel's own reader, which lies in its sources."""
    sys.path.insert(0, sys.argv[2] + "/tools/testing/kunit")
    import contextlib

    with contextlib.redirect_stdout(sys.stderr):
        import kunit_parser

        found = kunit_parser.parse_run_tests(text.splitlines())
    counts = found.counts
    assert counts.errors == counts.crashed == 0, counts
    return (counts.total(), counts.failed, counts.skipped)


def junitparser(text):
    """What other programs read JUnit's XML with."""
    import junitparser

    cases = [case for suite in junitparser.JUnitXml.fromstring(text.encode()) for case in suite]
    results = [[type(result) for result in case.result] for case in cases]
    count = lambda kind: sum(kind in of for of in results)
    return (len(cases), count(junitparser.Failure), count(junitparser.Skipped))


def github(text):
    """The runner's own way with a line: a command, its properties, the message."""
    command = re.compile(r"::(error|warning|notice) title=([^:,]+)::(.+)")
    failures, said = 0, None
    for line in text.splitlines():
        match = command.fullmatch(line)
        assert match, line
        assert not re.search(r"%(?!25|0A|0D|3A|2C)", match[2] + match[3]), line
        failures += match[1] == "error"
        said = match[3]
    assert failures <= 10
    found = re.match(r"(\d+) checks?: (\d+) failed, (\d+) undecided", said)
    assert int(found[2]) == failures or failures == 10
    return tuple(int(found[n]) for n in (1, 2, 3))


def gitlab(text):
    """docs.gitlab.com, "Code Quality report format"."""
    issues = json.loads(text)
    for issue in issues:
        for field in ("description", "check_name", "fingerprint"):
            assert isinstance(issue[field], str) and issue[field]
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert isinstance(issue["location"]["lines"]["begin"], int)
        assert issue["location"]["path"]
    prints = [issue["fingerprint"] for issue in issues]
    assert len(set(prints)) == len(prints)
    return (None, len(issues), None)


def markdown(text):
    assert len(text) <= MOST
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [re.split(r"(?<!\\)\|", row)[1:-1] for row in rows]
    assert all(len(row) == 4 for row in cells), cells
    words = [row[0].strip() for row in cells[2:]]
    assert set(words) <= {"**failed**", "undecided", "passed"}, words
    return (len(words), words.count("**failed**"), words.count("undecided"))


def kcidb(text):
    """KCIDB's own reader."""
    import kcidb_io

    data = json.loads(text)
    kcidb_io.schema.LATEST.validate(data)
    names = [test["id"] for test in data["tests"]]
    assert len(set(names)) == len(names)
    status = [test["status"] for test in data["tests"]]
    return (len(status), status.count("FAIL"), status.count("DONE"))


def steps(text):
    """The YAML of the page on CI: of each job the commands that it carries out."""
    import yaml

    found = []
    for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL):
        read = yaml.safe_load(block)
        if not isinstance(read, dict):
            continue
        for job in read["jobs"].values() if "jobs" in read else read.values():
            found.append(job.get("before_script", []) + job.get("script", []))
            for step in job.get("steps", []):
                assert ("uses" in step) != ("run" in step), step
                found[-1] += [step["run"]] if "run" in step else []
            if "steps" not in job:
                assert "junit" in job["artifacts"]["reports"]
    return found


def ci(text):
    """The commands of assize among them."""
    return [line for job in steps(text) for line in job if line.startswith("assize ")]


def schemas(text):
    """The YAML of the page on CI, by the schemas of GitLab and of GitHub: how many files
    were found right."""
    import yaml

    right = 0
    for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL):
        read = yaml.safe_load(block)
        if not isinstance(read, dict):
            continue
        schema = "vendor.github-workflows" if "jobs" in read else "vendor.gitlab-ci"
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write(block)
            file.flush()
            check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema]
            done = subprocess.run(check + [file.name], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        right += 1
    return right


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](sys.stdin.read())))
