#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recomputes the figures of a verdict with scipy and statsmodels.

Reads a document of schema assize.verdict/1 from standard input, takes
nothing from it but the runs and the counts, computes every comparison,
factorial effect and rate again, and ends with status 1 if any figure
differs by more than 1e-6 relative. Test-only; needs Debian's python3-scipy
and python3-statsmodels.

    assize audit --json FILE | oracle/independent.py
    assize compare --json BUNDLE | oracle/independent.py --primary METRIC...
"""
import argparse
import itertools
import json
import math
import sys

import numpy as np
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.multitest import multipletests

TOLERANCE = 1e-6
checked = 0
wrong = []


def same(where, name, got, want):
    global checked
    checked += 1
    if got is None and want is None:
        return
    if got is None or want is None or not math.isclose(got, want, rel_tol=TOLERANCE, abs_tol=1e-12):
        wrong.append(f"{where}: {name}: the document has {got}, scipy {want}")


def welch(a, b):
    va, vb = np.var(a, ddof=1) / len(a), np.var(b, ddof=1) / len(b)
    se = math.sqrt(va + vb)
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    d = np.mean(b) - np.mean(a)
    half = stats.t.ppf(0.975, df) * se
    return d, d - half, d + half, stats.ttest_ind(b, a, equal_var=False).pvalue


def paired(a, b):
    t = stats.ttest_rel(b, a)
    low, high = t.confidence_interval(0.95)
    return np.mean(b - a), low, high, t.pvalue


def sign_flips(a, b):
    """Relabelings inside blocks of one run each: every difference turns or not."""
    d = b - a
    tolerance = 1e-12 * max(np.max(np.abs(a)), np.max(np.abs(b)))
    flips = np.array(list(itertools.product((1, -1), repeat=len(d))))
    hits = np.abs(flips @ d / len(d)) >= abs(np.mean(d)) - tolerance
    return hits.mean(), 2 / len(flips)


def permutation(a, b):
    x = np.concatenate([a, b])
    observed = abs(np.mean(b) - np.mean(a))
    tolerance = 1e-12 * np.max(np.abs(x))
    total = hits = 0
    for chosen in itertools.combinations(range(len(x)), len(b)):
        mask = np.zeros(len(x), bool)
        mask[list(chosen)] = True
        total += 1
        hits += abs(x[mask].mean() - x[~mask].mean()) >= observed - tolerance
    return hits / total, (2 if len(a) == len(b) else 1) / total


def values(document, workload, configuration, metric):
    return np.array([
        run["metrics"][metric]["value"]
        for run in document["runs"]
        if run["workload"] == workload and run["configuration"] == configuration and metric in run["metrics"]
    ])


def pairs(document, one, other, metric):
    """Values of both cells (workload, configuration) from the blocks that hold both."""
    of = lambda cell: {
        run["block"]: run["metrics"][metric]["value"]
        for run in document["runs"]
        if (run["workload"], run["configuration"]) == cell and metric in run["metrics"]
    }
    a, b = of(one), of(other)
    common = sorted(a.keys() & b.keys())
    return np.array([a[block] for block in common]), np.array([b[block] for block in common])


def in_blocks(document, where, row):
    """A row of complete blocks; of the noise floor too, which has no scale."""
    cell = lambda configuration: (row["workload"], row[configuration])
    paired_cells(document, where, row, cell("baseline"), cell("configuration"), row["metric"])


def paired_cells(document, where, row, one, other, metric):
    a, b = pairs(document, one, other, metric)
    same(where, "n_baseline", row["n_baseline"], len(a))
    same(where, "n", row["n"], len(b))
    log = row["ratio"] is not None
    if log:
        a, b = np.log(a), np.log(b)
        same(where, "ratio", row["ratio"], math.exp(np.mean(b - a)))
    else:
        same(where, "difference", row["difference"], np.mean(b - a))
    if np.ptp(b - a) == 0:
        return
    _, low, high, p_t = paired(a, b)
    bounds = np.exp([low, high]) if log else [low, high]
    same(where, "ci low", row["ci"][0], bounds[0])
    same(where, "ci high", row["ci"][1], bounds[1])
    same(where, "p_t", row["p_t"], p_t)
    if len(a) <= 14:
        p, attainable = sign_flips(a, b)
        same(where, "p", row["p"], p)
        same(where, "p_attainable", row.get("p_attainable", attainable), attainable)


def comparisons(document):
    blocks = any(run.get("block") is not None for run in document["runs"])
    for row in document["noise_floor"] if blocks else []:
        in_blocks(document, f"noise floor {row['workload']} {row['metric']}", row)
    for row in document["comparisons"]:
        where = f"{row['workload']} {row['metric']} {row['configuration']}"
        if row["t_test"] == "paired":
            in_blocks(document, where, row)
            continue
        a = values(document, row["workload"], row["baseline"], row["metric"])
        b = values(document, row["workload"], row["configuration"], row["metric"])
        if row["scale"] == "summary":
            continue
        same(where, "n_baseline", row["n_baseline"], len(a))
        same(where, "n", row["n"], len(b))
        log = row["scale"] == "log"
        if log != bool((a > 0).all() and (b > 0).all()):
            wrong.append(f"{where}: scale {row['scale']} does not fit the values")
        if log:
            a, b = np.log(a), np.log(b)
            same(where, "ratio", row["ratio"], math.exp(np.mean(b) - np.mean(a)))
        else:
            same(where, "difference", row["difference"], np.mean(b) - np.mean(a))
        if min(len(a), len(b)) < 2 or np.ptp(a) == 0 and np.ptp(b) == 0:
            continue
        _, low, high, p_t = welch(a, b)
        bounds = np.exp([low, high]) if log else [low, high]
        same(where, "ci low", row["ci"][0], bounds[0])
        same(where, "ci high", row["ci"][1], bounds[1])
        same(where, "p_t", row["p_t"], p_t)
        if math.comb(len(a) + len(b), len(a)) <= 20000:
            p, attainable = permutation(a, b)
            same(where, "p", row["p"], p)
            same(where, "p_attainable", row["p_attainable"], attainable)


def tables(document):
    """Medians, and the ratios that stand in tables only; the others are compared with their comparison."""
    own = {(row["workload"], row["metric"], row["baseline"], row["configuration"]): row for row in document["comparisons"]}
    for table in document["tables"]:
        metric, one = table["metric"], table["normalised_to"]
        for row in table["rows"]:
            for cell in row["cells"]:
                workload, configuration = cell["workload"], row["configuration"]
                where = f"table of {metric}, {configuration} on {workload}"
                runs = values(document, workload, configuration, metric)
                same(where, "n", cell["n"], len(runs))
                same(where, "median", cell["median"], np.median(runs) if len(runs) else None)
                relative = cell["relative"]
                comparison = own.get((workload, metric, row["baseline"], configuration))
                for name in ("ratio", "difference", "p_t", "p", "n", "n_baseline") if comparison else ():
                    same(where, f"relative {name}", relative[name], comparison[name])
                if relative and not comparison and relative["t_test"] == "paired":
                    cells = (workload, row["baseline"]), (workload, configuration)
                    paired_cells(document, f"{where}, relative", relative, *cells, metric)
                normalised = cell["normalised"]
                if normalised and normalised["t_test"] == "paired":
                    cells = (one, configuration), (workload, configuration)
                    paired_cells(document, f"{where}, normalised", normalised, *cells, metric)


def adjusted(document, primary):
    """Holm over the rows of primary metrics, Benjamini-Hochberg over all others."""
    for raw, name in (("p", "p_adjusted"), ("p_t", "p_t_adjusted")):
        given = [row for row in document["comparisons"] if row[raw] is not None]
        for method, wanted in (("holm", True), ("fdr_bh", False)):
            rows = [row for row in given if (row["metric"] in primary) == wanted]
            if not rows:
                continue
            for row, want in zip(rows, multipletests([row[raw] for row in rows], method=method)[1]):
                same(f"{row['workload']} {row['metric']} {row['configuration']}", name, row[name], want)


def factorial(document):
    levels = {c["name"]: c["factors"] for c in document["configurations"] if c["factors"]}
    for fit in document["factorial"]:
        names = fit["factors"]
        pairs = list(itertools.combinations(range(len(names)), 2))
        x, y = [], []
        for run in document["runs"]:
            if run["workload"] == fit["workload"] and run["configuration"] in levels and fit["metric"] in run["metrics"]:
                half = [0.5 if levels[run["configuration"]][name] else -0.5 for name in names]
                x.append([1.0] + half + [half[i] * half[j] for i, j in pairs])
                y.append(math.log(run["metrics"][fit["metric"]]["value"]))
        model = sm.OLS(np.array(y), np.array(x)).fit()
        labels = names + [f"{names[i]}:{names[j]}" for i, j in pairs]
        interval = model.conf_int()
        for at, (label, effect) in enumerate(zip(labels, fit["effects"]), start=1):
            where = f"{fit['workload']} {fit['metric']} {label}"
            if label != effect["name"]:
                wrong.append(f"{where}: the document calls it {effect['name']}")
            same(where, "ratio", effect["ratio"], math.exp(model.params[at]))
            if np.ptp(y) > 0:
                same(where, "ci low", effect["ci"][0], math.exp(interval[at][0]))
                same(where, "ci high", effect["ci"][1], math.exp(interval[at][1]))
                same(where, "p", effect["p"], model.pvalues[at])


def rates(document):
    by_name = {}
    for row in document["rates"]:
        where = f"{row['event']} {row['configuration']}"
        by_name[row["workload"], row["event"], row["configuration"]] = row
        if row["exposure_s"] is None:
            continue
        k, t = row["count"], row["exposure_s"]
        same(where, "rate_per_s", row["rate_per_s"], k / t)
        low = stats.chi2.ppf(0.025, 2 * k) / 2 if k else 0.0
        high = stats.chi2.ppf(0.975, 2 * k + 2) / 2 if k else -math.log(0.05)
        same(where, "ci low", row["ci"][0], low / t)
        same(where, "ci high", row["ci"][1], high / t)
    for row in document["rate_comparisons"]:
        a = by_name[row["workload"], row["event"], row["baseline"]]
        b = by_name[row["workload"], row["event"], row["configuration"]]
        total = a["count"] + b["count"]
        share = b["exposure_s"] / (a["exposure_s"] + b["exposure_s"])
        p = stats.binomtest(b["count"], total, share).pvalue if total else 1.0
        same(f"{row['event']} {row['configuration']} to {row['baseline']}", "p", row["p"], p)


def main():
    parser = argparse.ArgumentParser(description="Recomputes the figures of a verdict.")
    parser.add_argument("--primary", nargs="*", default=[], metavar="METRIC")
    primary = parser.parse_args().primary
    document = json.load(sys.stdin)
    comparisons(document)
    tables(document)
    adjusted(document, primary)
    factorial(document)
    rates(document)
    for line in wrong[:20]:
        print(line)
    print(f"{checked} figures computed again, {len(wrong)} differ by more than {TOLERANCE:g}")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
