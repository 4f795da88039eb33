#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""assize beside what people compare with today, on one set of real runs.

    oracle/peers.py assize FILE.json [FILE.txt]

FILE.json is what `hyperfine --export-json` wrote for two commands, FILE.txt
what it printed. Prints one table as Markdown and ends with status 1 where
methods that ought to agree do not: p_t is scipy's Welch test on logarithms,
the interval is its interval, p is below scipy's Monte-Carlo bound, and the
ratio from hyperfine's printed means is hyperfine's own. benchstat joins in
if it is on PATH. Test-only; needs Debian's python3-scipy.
"""
import json
import math
import re
import shutil
import subprocess
import sys

import numpy as np
from scipy import stats


def document(*command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def benchstat(results):
    """The medians and p of benchstat, told the same seconds."""
    program = shutil.which("benchstat")
    if not program:
        return None
    names = []
    for index, result in enumerate(results):
        name = f"/tmp/peers-{index}.txt"
        names.append(name)
        with open(name, "w", encoding="ascii") as file:
            for time in result["times"]:
                file.write(f"BenchmarkIt 1 {time * 1e9:.0f} ns/op\n")
    out = subprocess.run([program, *names], check=True, capture_output=True, text=True).stdout
    row = next(line for line in out.splitlines() if line.startswith("It"))
    change, p = re.search(r"([+-][\d.]+)% \(p=([\d.]+)", row).groups()
    return 1 + float(change) / 100, float(p)


def main():
    assize, path = sys.argv[1], sys.argv[2]
    with open(path, encoding="utf-8") as file:
        results = json.load(file)["results"]
    a, b = (np.array(result["times"]) for result in results)
    row = next(r for r in document(assize, "compare", path, "--json")["comparisons"] if r["metric"] == "time")
    log = stats.ttest_ind(np.log(b), np.log(a), equal_var=False)
    raw = stats.ttest_ind(b, a, equal_var=False)
    rank = stats.mannwhitneyu(b, a, alternative="two-sided")
    wrong = []

    def agree(name, got, want):
        if not math.isclose(got, want, rel_tol=1e-6):
            wrong.append(f"{name}: assize {got}, peer {want}")

    agree("ratio", row["ratio"], stats.gmean(b) / stats.gmean(a))
    agree("p_t", row["p_t"], log.pvalue)
    if row["p"] > 100 * max(rank.pvalue, 1e-5):
        wrong.append(f"p: {row['p']} is far above the rank test's {rank.pvalue}")

    print("| method | B over A | 95 % interval | p |\n| --- | --- | --- | --- |")
    low, high = row["ci"]
    print(f"| assize, t on logarithms | {row['ratio']:.4f} | {low:.4f} to {high:.4f} | {row['p_t']:.3g} |")
    print(f"| assize, permutation test | {row['ratio']:.4f} | | {row['p']:.3g} |")
    print(f"| Welch's t on logarithms (scipy) | {stats.gmean(b) / stats.gmean(a):.4f} | | {log.pvalue:.3g} |")
    print(f"| Welch's t on seconds (what hyperfine's script runs) | {b.mean() / a.mean():.4f} | | {raw.pvalue:.3g} |")
    print(f"| Mann-Whitney (scipy) | {np.median(b) / np.median(a):.4f} | | {rank.pvalue:.3g} |")
    peer = benchstat(results)
    if peer:
        print(f"| benchstat | {peer[0]:.4f} | | {peer[1]:.3f} |")
    if len(sys.argv) > 3:
        summary(assize, sys.argv[3], results, agree)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def summary(assize, path, results, agree):
    """hyperfine's own reading of what it printed."""
    row = next(r for r in document(assize, "audit", path, "--json")["comparisons"] if r["metric"] == "time")
    with open(path, encoding="utf-8") as file:
        means = [float(value) for value in re.findall(r"Time \(mean ± σ\): +([\d.]+) ms", file.read())]
    agree("ratio of the printed means", row["ratio"], means[1] / means[0])
    low, high = row["ci"]
    print(f"| assize, from hyperfine's text alone | {row['ratio']:.4f} | {low:.4f} to {high:.4f} | {row['p_t']:.3g} |")
    slow, fast = results if results[0]["mean"] > results[1]["mean"] else results[::-1]
    times = slow["mean"] / fast["mean"]
    error = times * math.hypot(slow["stddev"] / slow["mean"], fast["stddev"] / fast["mean"])
    print(f"| hyperfine: {times:.2f} ± {error:.2f} times faster | {fast['mean'] / slow['mean']:.4f} | | |")


if __name__ == "__main__":
    sys.exit(main())
