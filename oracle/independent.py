#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recomputes a verdict with scipy and statsmodels.

Reads a document of schema assize.verdict/1 from standard input, takes
nothing from it but runs, summaries, counts, the steps of values and the p of
rates of events, computes every comparison, the family of all tests, every
factorial effect, every declared trade-off, the lints that hold verdicts down,
the verdicts and the rates again, and ends with status 1 if any word differs or any figure by more
than 1e-6 relative. What it cannot compute (runs of several machines, events
counted by run, more relabelings than it can write down) it names, and ends
with status 2. Test-only; needs Debian's python3-scipy and python3-statsmodels.

    assize audit --json FILE | oracle/independent.py
    assize compare --json BUNDLE | oracle/independent.py --primary METRIC...
"""
import argparse
import collections
import itertools
import json
import math
import sys

import numpy as np
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.multitest import multipletests

import families

TOLERANCE = 1e-6
PRIMARY_SHARE = 0.8
PERMUTATION_SHARE = 0.9
MOST_RELABELINGS = 200_000
checked = 0
wrong = []
left_out = []


def same(where, name, got, want):
    global checked
    checked += 1
    if isinstance(got, (str, bool)) or isinstance(want, (str, bool)) or got is None or want is None:
        equal = got == want
    else:
        equal = math.isclose(got, want, rel_tol=TOLERANCE, abs_tol=1e-12)
    if not equal:
        wrong.append(f"{where}: {name}: the document has {got}, scipy {want}")


def ends(where, name, got, want):
    for at, end in enumerate(("low", "high")):
        same(where, f"{name} {end}", got and got[at], None if want is None else float(want[at]))


class Cell:
    """The runs of one configuration, or a summary of them."""

    def __init__(self, document, workload, metric, configuration):
        self.runs = [
            run for run in document["runs"]
            if (run["workload"], run["configuration"]) == (workload, configuration) and metric in run["metrics"]
        ]
        self.values = np.array([run["metrics"][metric]["value"] for run in self.runs])
        given = [
            s for s in document["summaries"]
            if (s["workload"], s["metric"], s["configuration"]) == (workload, metric, configuration)
        ]
        self.summary = given[0] if given else None
        self.metric = metric

    def in_order(self):
        return [run["metrics"][self.metric]["value"] for run in sorted(self.runs, key=lambda run: run["order"])]

    def blocks(self):
        return [run.get("block") for run in self.runs]

    def only(self, runs):
        """The same with these runs."""
        one = object.__new__(Cell)
        one.runs, one.metric, one.summary = runs, self.metric, None
        one.values = np.array([run["metrics"][self.metric]["value"] for run in runs])
        return one


Estimate = collections.namedtuple("Estimate", "effect se df")


def interval(estimate, level):
    half = stats.t.ppf(0.5 + level / 2, estimate.df) * estimate.se if estimate.se > 0 else 0.0
    return estimate.effect - half, estimate.effect + half


def flips(differences, level, variance):
    """The centres that no flip of signs rejects (Hartigan 1969); None where the t
    interval serves."""
    n = len(differences)
    k = math.floor((1 - level) / 2 * 2**n + 1e-9) if n <= 16 else 0
    if k == 0:
        return None
    held = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1
    means = np.sort(held @ differences / held.sum(axis=1))
    centre, hidden = differences.mean(), stats.t.ppf(0.5 + level / 2, n - 1) * math.sqrt(variance)
    return centre - math.hypot(centre - means[k - 1], hidden), centre + math.hypot(means[-k] - centre, hidden)


def welch(a, b):
    va, vb = np.var(a, ddof=1) / len(a), np.var(b, ddof=1) / len(b)
    if va + vb == 0:
        return Estimate(np.mean(b) - np.mean(a), 0.0, len(a) + len(b) - 2.0)
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    return Estimate(np.mean(b) - np.mean(a), math.sqrt(va + vb), df)


def paired(a, b):
    return Estimate(np.mean(b - a), stats.sem(b - a), len(a) - 1.0)


def partners(a, b):
    """Both cells with the runs of the blocks that hold one of each; None if they are
    no pairs."""
    if any(block is None for block in a.blocks() + b.blocks()):
        return None
    of_a, of_b = collections.Counter(a.blocks()), collections.Counter(b.blocks())
    common = sorted(of_a.keys() & of_b.keys())
    if len(common) < 2 or any((of_a[k], of_b[k]) != (1, 1) for k in common):
        return None
    pick = lambda cell: cell.only([next(run for run in cell.runs if run["block"] == k) for k in common])
    return pick(a), pick(b)


def of_images(cell, positive):
    """The mean of the runs of each memory image."""
    images = {}
    for run, value in zip(cell.runs, np.log(cell.values) if positive else cell.values):
        images.setdefault(run["image"], []).append(value)
    return {image: float(np.mean(values)) for image, values in images.items()}


def beyond_spread(hidden, x, pairs):
    """Hidden variances u²/12, 0 where the values spread by u or more."""
    spread = lambda values: values.var(ddof=1) if len(values) > 1 else -1.0
    if pairs:
        return [0.0, 0.0] if spread(x[1] - x[0]) >= 6 * sum(hidden) else hidden
    return [0.0 if spread(side) >= 12 * one else one for one, side in zip(hidden, x)]


class Weighed:
    """Two cells against each other; `step` is that of their values; `by_image`: several
    memory images are shared, and are the replicates."""

    def __init__(self, a, b, step, by_image=False):
        self.a, self.b, self.step, self.by_image = a, b, step, by_image
        self.images = None
        self.scale = self.t_test = self.effect = self.estimate = self.p_t = self.row = self.attainable = None
        self.n = [len(a.runs), len(b.runs)]
        if not a.runs or not b.runs:
            self.of_summaries()
        elif min(self.n) < 2:
            self.of_single()
        else:
            self.of_runs()

    def of_runs(self):
        positive = all((cell.values > 0).all() for cell in (self.a, self.b))
        both = partners(self.a, self.b)
        self.t_test = "paired" if both else "welch"
        a, b = both or (self.a, self.b)
        self.n = [len(a.runs), len(b.runs)]
        self.scale = "log" if positive else "raw"
        x = [np.log(cell.values) if positive else cell.values for cell in (a, b)]
        if self.by_image:
            means = [of_images(cell, positive) for cell in (a, b)]
            common = sorted(means[0].keys() & means[1].keys())
            x = [np.array([of[image] for image in common]) for of in means]
            self.images, self.t_test = len(common), "paired"
            if len(common) < 2:
                self.t_test = None
                self.mean_a = math.exp(x[0].mean()) if positive else x[0].mean()
                self.effect, self.attainable = x[1].mean() - x[0].mean(), 1.0
                return
        self.mean_a = math.exp(x[0].mean()) if positive else x[0].mean()
        step = self.step
        if all((cell.values % 1 == 0).all() for cell in (a, b)):
            step = 1.0
        sizes = [np.exp(side).mean() if self.images else cell.values.mean() for side, cell in zip(x, (a, b))]
        each = len(a.runs) / self.images if self.images else 1.0
        hidden = [((step or 0.0) / (size if positive else 1.0)) ** 2 / 12 / each for size in sizes]
        hidden = beyond_spread(hidden, x, both or self.images)
        estimate = (paired if both or self.images else welch)(*x)
        # What rounding leaves of values that are all the same is no spread.
        se = 0.0 if estimate.se < 1e-14 * max(1.0, np.abs(x[0]).max()) else estimate.se
        more = hidden[0] / len(x[0]) + hidden[1] / len(x[1]) if se > 0 else 0.0
        self.estimate = Estimate(estimate.effect, math.sqrt(se**2 + more), estimate.df)
        self.effect = self.estimate.effect
        if self.estimate.se > 0:
            self.p_t = 2 * stats.t.sf(abs(self.effect) / self.estimate.se, self.estimate.df)
        blocks = [[0, list(map(float, x[0])), list(map(float, x[1]))]]
        if self.images:
            blocks = [[image + 1, [float(one)], [float(two)]] for image, one, two in zip(common, *x)]
        elif all(block is not None for block in a.blocks() + b.blocks()):
            by_block = {}
            for side, (cell, values) in enumerate(zip((a, b), x), start=1):
                for block, value in zip(cell.blocks(), values):
                    by_block.setdefault(block, [block + 1, [], []])[side].append(float(value))
            blocks = [by_block[block] for block in sorted(by_block)]
        self.row = {"blocks": blocks, "resolution": sum(hidden) / 2, "relative": positive}
        self.attainable = families.attainable(self.row)

    def of_single(self):
        positive = all((cell.values > 0).all() for cell in (self.a, self.b))
        self.scale = "log" if positive else "raw"
        mean = lambda cell: np.log(cell.values).mean() if positive else cell.values.mean()
        self.mean_a = math.exp(mean(self.a)) if positive else mean(self.a)
        self.effect = mean(self.b) - mean(self.a)
        mirrored = self.n[0] == self.n[1]
        self.attainable = min(1.0, (2 if mirrored else 1) / math.comb(sum(self.n), self.n[0]))

    def of_summaries(self):
        self.scale, sides = "summary", []
        for cell in (self.a, self.b):
            if cell.runs:
                n = len(cell.runs)
                se = cell.values.std(ddof=1) / math.sqrt(n) if n > 1 else None
                sides.append((cell.values.mean(), se, n))
                continue
            n, spread = cell.summary["n"], cell.summary["spread"] or {}
            se = spread.get("standard_error")
            if se is None and n and "standard_deviation" in spread:
                se = spread["standard_deviation"] / math.sqrt(n)
            sides.append((cell.summary["mean"], se, n))
        self.n, self.mean_a = [side[2] for side in sides], sides[0][0]
        if min(side[0] for side in sides) <= 0:
            return
        self.effect = math.log(sides[1][0] / sides[0][0])
        if any(se is None or n is None or n < 2 for _, se, n in sides):
            return
        va, vb = [(se / mean) ** 2 for mean, se, _ in sides]
        df = (va + vb) ** 2 / (va**2 / (self.n[0] - 1) + vb**2 / (self.n[1] - 1)) if va + vb else sum(self.n) - 2.0
        self.estimate, self.t_test = Estimate(self.effect, math.sqrt(va + vb), df), "welch"
        if self.estimate.se > 0:
            self.p_t = 2 * stats.t.sf(abs(self.effect) / self.estimate.se, df)

    def bounds(self, level, verdict="undecided"):
        """The interval of the flips where there is one, but of t if the verdict rests
        on that; it ends at "no difference" if there is one by the verdict."""
        if self.estimate is None:
            return None
        ends = None
        if self.t_test == "paired" and verdict != "supported":
            differences = np.array([b[0] - a[0] for _, a, b in self.row["blocks"]])
            hidden = 2 * self.row["resolution"] / len(differences) if self.p_t is not None else 0.0
            ends = flips(differences, level, hidden)
        ends = np.array(ends or interval(self.estimate, level))
        if verdict in ("established", "supported"):
            ends = np.maximum(ends, 0.0) if self.effect > 0 else np.minimum(ends, 0.0)
        with np.errstate(over="ignore"):
            ends = ends if self.scale == "raw" else np.exp(ends)
        return tuple(map(float, ends)) if np.isfinite(ends).all() else None

    def replicates(self):
        """Of the side that has fewer; None if they are not known."""
        return self.images or (None if None in self.n else min(self.n))

    def too_coarse(self, margin):
        return self.step is not None and self.step / abs(self.mean_a) > margin * (1 + 1e-9)

    def p_equivalence(self, margin, alpha):
        if self.scale == "raw" or self.estimate is None or (self.replicates() or 0) < 5 or self.too_coarse(margin):
            return None
        if self.hides_tails(margin, alpha):
            return None
        effect, se, df = self.estimate
        room = [effect - math.log1p(-margin), math.log1p(margin) - effect]
        return max(stats.t.sf(d / se, df) if se > 0 else float(d < 0) for d in room)

    def hides_tails(self, margin, alpha):
        fewest = min(len(self.a.runs), len(self.b.runs))
        if fewest and stats.binomtest(0, fewest).proportion_ci(1 - 2 * alpha, "exact").high <= 0.05:
            return False
        return any(apart(cell.values, margin) for cell in (self.a, self.b))


def apart(values, margin):
    """Whether a run lies apart (Iglewicz and Hoaglin 1993) by more than the margin."""
    if len(values) < 5:
        return False
    x = np.log(values) if (values > 0).all() else values
    off = np.abs(x - np.median(x))
    rounding = 1e-9 * max(1.0, abs(np.median(x)))
    if np.median(off) > rounding:
        score = 0.6745 * off / np.median(off)
    else:
        score = np.where(off > rounding, off / (1.253314 * max(off.mean(), 1e-300)), 0.0)
    middle = np.sort(values)[len(values) // 2]
    return bool((np.abs(values / middle - 1)[score > 3.5] > margin).any())


def drift_inside(groups):
    """p of Kendall's test over the pairs inside groups; None if it cannot be made."""
    if sum(math.lgamma(len(g) + 1) for g in groups) < math.log(720) - 1e-9:
        return None
    signs = [int(np.sign(late - early)) for g in groups for early, late in itertools.combinations(g, 2)]
    total, pairs = abs(sum(signs)), len(signs)
    if not any(signs):
        return None
    if pairs <= 528 and all(signs):
        ways = [1]
        for g in groups:
            for m in range(2, len(g) + 1):
                ways = [sum(ways[max(0, i - m + 1) : i + 1]) for i in range(len(ways) + m - 1)]
        return min(1.0, 2 * sum(ways[: (pairs - total) // 2 + 1]) / sum(ways))
    variance = 0.0
    for g in groups:
        n, (_, t) = len(g), np.unique(g, return_counts=True)
        variance += (n * (n - 1) * (2 * n + 5) - (t * (t - 1) * (2 * t + 5)).sum()) / 18
    return min(1.0, 2 * stats.norm.sf(max(0, total - 1) / math.sqrt(variance)))


class Court:
    """A document, and all that is found out again."""

    def __init__(self, document, primary):
        self.document, self.primary = document, set(primary)
        self.alpha, self.margin, self.level = document["alpha"], document["margin"], document.get("level", 0.95)
        self.repeats = {c["name"] for c in document["configurations"] if c.get("repeats")}
        self.cells = {}
        self.metrics = list(dict.fromkeys(
            [m for run in document["runs"] for m in run["metrics"]] + [s["metric"] for s in document["summaries"]]
        ))
        names = [c["name"] for c in document["configurations"]]
        for place in itertools.product(document["workloads"], self.metrics, names):
            cell = Cell(document, *place)
            if cell.runs or cell.summary:
                self.cells[place] = cell
        images = [run.get("image") for run in document["runs"]]
        cells = collections.Counter(
            (run["workload"], run["configuration"], run.get("image")) for run in document["runs"]
        )
        # Several images, and a configuration with two runs of one of them.
        self.shared_images = None not in images and len(set(images)) > 1 and max(cells.values()) > 1
        self.in_blocks = any(run.get("block") is not None for run in document["runs"])
        self.find_order()

    def find_order(self):
        """Workloads whose runs are grouped, and what depends on the order of runs."""
        self.grouped, self.drifting, self.serial = set(), set(), set()
        if self.in_blocks:
            return
        for workload in self.document["workloads"]:
            runs = sorted((r for r in self.document["runs"] if r["workload"] == workload), key=lambda r: r["order"])
            stretches = [(k, len(list(g))) for k, g in itertools.groupby(r["configuration"] for r in runs)]
            once = len({k for k, _ in stretches}) == len(stretches)
            if once and sum(n >= 2 for _, n in stretches) >= 2:
                self.grouped.add(workload)
        places = list(dict.fromkeys((w, m) for w, m, _ in self.cells))
        rows = [(place, [c for (w, m, _), c in self.cells.items() if (w, m) == place]) for place in places]
        drifts = [(p, drift_inside([c.in_order() for c in cells])) for p, cells in rows if p[0] in self.grouped]
        likenesses = [(p, families.bartels(c.in_order())) for p, cells in rows for c in cells]
        self.drifting = significant([(p, drift) for p, drift in drifts if drift is not None])
        self.serial = significant([(p, found[1]) for p, found in likenesses if found])

    def cap(self, workload, metric, a, b):
        """What a lint allows at best, and its name."""
        images = lambda cell: [run["image"] for run in cell.runs if run.get("image") is not None]
        if (workload, metric) in self.drifting:
            return "undecided", "drift"
        if (workload, metric) in self.serial:
            return "undecided", "dependent-runs"
        if any(len(set(images(cell))) < len(images(cell)) for cell in (a, b)) and not self.shared_images:
            return "supported", "shared-image"
        if workload in self.grouped:
            return "supported", "unrandomised-order"
        few, many = sorted((a, b), key=lambda cell: len(cell.runs))
        blocked = all(run.get("block") is not None for cell in (a, b) for run in cell.runs)
        if 1 < len(few.runs) < 20 and not blocked:
            spread = lambda v: np.std(np.log(v) if (v > 0).all() else v, ddof=1)
            one, two = spread(few.values), spread(many.values)
            uneven = len(many.runs) >= 2 * len(few.runs)
            if uneven and one > 2 * two:
                return "supported", "unequal-spread"
            if not uneven and len(few.runs) >= 4 and max(one, two) > 3 * min(one, two):
                return "established", "unequal-spread"
        return None

    def steps(self, workload, metric):
        """The step of a row where a comparison tells it."""
        rows = self.document["comparisons"]
        return max((r["resolution"] for r in rows if (r["workload"], r["metric"]) == (workload, metric) and r["resolution"]), default=None)

    def weigh(self, one, other, step=None):
        return Weighed(self.cells[one], self.cells[other], step, self.shared_images)


def significant(found):
    corrected = multipletests([p for _, p in found], method="holm")[1] if found else []
    return {place for (place, _), p in zip(found, corrected) if p <= 0.05}


class Question:
    def __init__(self, row, p_t, p_equivalence, primary):
        self.row, self.p_t, self.p_equivalence, self.primary = row, p_t, p_equivalence, primary
        self.p = self.p_adjusted = self.p_t_adjusted = self.p_equivalence_adjusted = self.least = None
        self.differs = None
        self.alone = 0.0


def answer(court, questions):
    """The primary questions and the others; what each class has of alpha; the p of
    all, corrected."""
    asked = [q for q in questions if (q.row, q.p_t, q.p_equivalence) != (None, None, None)]
    classes = [[q for q in asked if q.primary], [q for q in asked if not q.primary]]
    shares = (PRIMARY_SHARE, 1 - PRIMARY_SHARE) if all(classes) else (1.0, 1.0)
    found = []
    able = lambda q: q.row and families.attainable(q.row) <= court.alpha
    both = all(any(able(q) for q in members) for members in classes)
    permuted = (PRIMARY_SHARE, 1 - PRIMARY_SHARE) if both else (1.0, 1.0)
    mixed = lambda members: any(map(able, members)) and any(q.p_t is not None and not able(q) for q in members)
    permuted = [of * (PERMUTATION_SHARE if mixed(members) else 1.0) for members, of in zip(classes, permuted)]
    for members, share, of_row in zip(classes, shares, permuted):
        for q in members:
            q.alone = court.alpha * share / len(members)
            q.least = q.row and min(1.0, families.attainable(q.row) / of_row)
        for q in members:
            if q.row and not able(q):
                q.p = by_itself(q.row)
        if any(map(able, members)):
            found.append(permute(members is classes[0], list(filter(able, members)), of_row * court.alpha))
    for members in classes:
        tested = [q for q in members if able(q)]
        others = [q for q in members if not able(q) and q.p_t is not None]
        by_t = multipletests([q.p_t for q in others], method="holm")[1].tolist() if others else []
        p = [q.p_adjusted for q in tested]
        p, by_t = families.shared(p, by_t, PERMUTATION_SHARE) if p and by_t else (p, by_t)
        for q, p in zip(tested + others, list(p) + list(by_t)):
            q.differs = float(p)
    for name, of in (("p_t", "p_t_adjusted"), ("p_equivalence", "p_equivalence_adjusted")):
        for members in classes:
            some = [q for q in members if getattr(q, name) is not None]
            for q, p in zip(some, multipletests([getattr(q, name) for q in some], method="holm")[1] if some else []):
                setattr(q, of, float(p))
    for of in ("differs", "p_t_adjusted", "p_equivalence_adjusted"):
        some = [[q for q in members if getattr(q, of) is not None] for members in classes]
        shared = families.shared(*[[getattr(q, of) for q in members] for members in some], PRIMARY_SHARE)
        if all(some):
            for members, ps in zip(some, shared):
                for q, p in zip(members, ps):
                    setattr(q, of, p)
    for q in asked:
        if able(q):
            q.p_adjusted = q.differs
        else:
            q.p_t_adjusted = q.differs
    return found


def relabelings(rows):
    sites = {families.site_of(block) for row in rows for block in row["blocks"]}
    return math.prod(math.comb(a + b, b) for _, a, b in sites)


def by_itself(row):
    return families.step_down([row])["p"][0] if relabelings([row]) <= MOST_RELABELINGS else None


def permute(primary, able, alpha):
    rows = [q.row for q in able]
    count = relabelings(rows)
    if count > MOST_RELABELINGS:
        left_out.append(f"{count} relabelings")
    else:
        of = families.step_down(rows)
        for q, p, adjusted in zip(able, of["p"], of["p_adjusted"]):
            q.p, q.p_adjusted = p, adjusted
    return {
        "primary": primary, "tests": len(rows), "alpha": alpha, "relabelings": count,
        "p_attainable": min(families.attainable(row) for row in rows),
    }


def word(court, q, weighed):
    """One of the four words, before lints."""
    passes = lambda p: p is not None and p <= court.alpha
    if passes(q.p_adjusted):
        return "established"
    enough = (weighed.replicates() or 0) >= 3
    if enough and passes(q.p_t_adjusted) and not passes(q.least):
        return "supported"
    return "equivalent" if passes(q.p_equivalence_adjusted) else "undecided"


def capped(court, q, verdict, cap):
    if cap is None or verdict == "equivalent":
        return verdict
    if verdict == "supported" and cap[0] != "undecided":
        return verdict
    by_t = q.p_t_adjusted is not None and q.p_t_adjusted <= court.alpha
    return cap[0] if verdict == "established" and by_t else "undecided"


def simultaneous(q, weighed, verdict):
    if not 0 < q.alone < 1:
        return None
    return weighed.bounds(1 - q.alone, verdict)


def ask_comparisons(court):
    """Each configuration against the baseline of its workload."""
    document, asked = court.document, []
    expected = set()
    for (workload, metric, configuration) in court.cells:
        baselines = {r["baseline"] for r in document["comparisons"] if r["workload"] == workload}
        if len(baselines) == 1 and (workload, metric, *baselines) in court.cells:
            if configuration not in baselines | court.repeats:
                expected.add((workload, metric, configuration))
    if expected != {(r["workload"], r["metric"], r["configuration"]) for r in document["comparisons"]}:
        wrong.append("the comparisons are not those of all configurations with their baseline")
    for row in document["comparisons"]:
        place = lambda configuration: (row["workload"], row["metric"], row[configuration])
        weighed = court.weigh(place("baseline"), place("configuration"), row["resolution"])
        p_equivalence = weighed.p_equivalence(court.margin, court.alpha)
        question = Question(weighed.row, weighed.p_t, p_equivalence, row["metric"] in court.primary)
        asked.append((row, weighed, question))
    return asked


def comparisons(court, asked):
    for row, weighed, q in asked:
        where = f"{row['workload']} {row['metric']} {row['configuration']}"
        cap = court.cap(row["workload"], row["metric"], weighed.a, weighed.b)
        free = word(court, q, weighed)
        verdict = capped(court, q, free, cap)
        figures(where, row, weighed, q.p)
        same(where, "scale", row["scale"], weighed.scale)
        ends(where, "ci", row["ci"], weighed.bounds(court.level, verdict))
        ends(where, "ci_simultaneous", row["ci_simultaneous"], simultaneous(q, weighed, verdict))
        same(where, "p_attainable", row["p_attainable"], weighed.attainable)
        same(where, "p_adjusted", row["p_adjusted"], q.p_adjusted)
        same(where, "p_t_adjusted", row["p_t_adjusted"], q.p_t_adjusted)
        same(where, "primary", row["primary"], q.primary)
        same(where, "too_coarse", row["too_coarse"], bool(weighed.too_coarse(court.margin)))
        same(where, "verdict", row["verdict"], verdict)
        same(where, "capped_by", row["capped_by"], cap[1] if cap and free != verdict else None)


def figures(where, row, weighed, p):
    """What comparisons, tables and the noise floor have in common."""
    raw = weighed.scale == "raw"
    effect = None if weighed.effect is None else float(weighed.effect)
    same(where, "n_baseline", row["n_baseline"], weighed.n[0])
    same(where, "n", row["n"], weighed.n[1])
    same(where, "images", row.get("images"), weighed.images)
    same(where, "ratio", row["ratio"], None if raw or effect is None else math.exp(effect))
    same(where, "difference", row["difference"], effect if raw else None)
    same(where, "p_t", row["p_t"], weighed.p_t)
    same(where, "p", row["p"], p)
    if "t_test" in row:
        same(where, "t_test", row["t_test"], weighed.t_test)


def others(court):
    """The noise floor and the tables, whose rows are in no family."""
    document = court.document

    def relation(where, row, one, other):
        weighed = court.weigh(one, other, court.steps(*other[:2]))
        figures(where, row, weighed, weighed.row and by_itself(weighed.row))
        level = 0.95 if "t_test" not in row else court.level
        ends(where, "ci", row["ci"], weighed.bounds(level))

    for row in document["noise_floor"]:
        place = lambda name: (row["workload"], row["metric"], row[name])
        relation(f"noise floor {row['workload']} {row['metric']}", row, place("baseline"), place("configuration"))
    own = {(r["workload"], r["metric"], r["baseline"], r["configuration"]): r for r in document["comparisons"]}
    for table in document["tables"]:
        metric, to = table["metric"], table["normalised_to"]
        for row, cell in ((row, cell) for row in table["rows"] for cell in row["cells"]):
            workload, configuration = cell["workload"], row["configuration"]
            where = f"table of {metric}, {configuration} on {workload}"
            place = (workload, metric, configuration)
            runs = court.cells[place].values if place in court.cells else np.array([])
            same(where, "n", cell["n"], len(runs))
            same(where, "median", cell["median"], float(np.median(runs)) if len(runs) else None)
            relative, comparison = cell["relative"], own.get((workload, metric, row["baseline"], configuration))
            if comparison:
                ends(where, "relative ci", relative["ci"], comparison["ci"])
            for name in ("ratio", "difference", "p_t", "p", "n", "n_baseline", "verdict") if comparison else ():
                same(where, f"relative {name}", relative[name], comparison[name])
            if relative and not comparison:
                relation(f"{where}, relative", relative, (workload, metric, row["baseline"]), place)
            if cell["normalised"]:
                relation(f"{where}, normalised", cell["normalised"], (to, metric, configuration), place)


def axes_of(tradeoff):
    return [(tradeoff[axis]["workload"], tradeoff[axis]["metric"]) for axis in ("x", "y")]


def there(court, tradeoff):
    """The configurations that have both metrics."""
    names = [c["name"] for c in court.document["configurations"] if c["name"] not in court.repeats]
    return [name for name in names if all((*axis, name) in court.cells for axis in axes_of(tradeoff))]


def ask_tradeoffs(court, compared):
    """The pairs of configurations that no comparison is about, each once."""
    known = {(r["workload"], r["metric"], frozenset((r["baseline"], r["configuration"]))) for r, _, _ in compared}
    asked = []
    for tradeoff in court.document.get("tradeoffs", []):
        if tradeoff["origin"] != "declared":
            left_out.append("trade-offs post hoc")
            continue
        for axis in axes_of(tradeoff):
            for one, other in itertools.combinations(there(court, tradeoff), 2):
                if (*axis, frozenset((one, other))) in known:
                    continue
                known.add((*axis, frozenset((one, other))))
                weighed = court.weigh((*axis, one), (*axis, other), court.steps(*axis))
                question = Question(
                    weighed.row, weighed.p_t, weighed.p_equivalence(court.margin, court.alpha), axis[1] in court.primary
                )
                row = {"workload": axis[0], "metric": axis[1], "baseline": one, "configuration": other}
                asked.append((row, weighed, question))
    return asked


def tradeoffs(court, asked):
    """Where each configuration stands; `asked` are all pairs with their questions."""
    stands = {}
    for row, weighed, q in asked:
        cap = court.cap(row["workload"], row["metric"], weighed.a, weighed.b)
        verdict = capped(court, q, word(court, q, weighed), cap)
        differs = verdict in ("established", "supported")
        side = math.copysign(1, weighed.effect) if differs else 0 if verdict == "equivalent" else None
        axis = (row["workload"], row["metric"])
        stands[(*axis, row["configuration"], row["baseline"])] = side, verdict
        stands[(*axis, row["baseline"], row["configuration"])] = side and -side, verdict
    for tradeoff in court.document.get("tradeoffs", []):
        goods = [1 if tradeoff[axis]["better"] == "higher" else -1 for axis in ("x", "y")]
        names = there(court, tradeoff)
        for point in tradeoff["points"]:
            name = point["configuration"]
            found = {"dominated_by": [], "not_told_from": [], "equivalent_to": []}
            for other in (one for one in names if name in names and one != name):
                sides = [stands[(*axis, other, name)][0] for axis in axes_of(tradeoff)]
                better = [side and side * good for side, good in zip(sides, goods)]
                if -1 in better:
                    continue
                kind = "not_told_from" if None in better else "dominated_by" if 1 in better else "equivalent_to"
                found[kind].append(other)
            where = f"trade-off, {name}"
            standing = "dominated" if found["dominated_by"] else "undecided" if found["not_told_from"] else "front"
            same(where, "standing", point["standing"], standing if name in names else "undecided")
            for kind, want in found.items():
                got = [one["configuration"] if kind == "dominated_by" else one for one in point[kind]]
                same(where, kind, " ".join(got), " ".join(want))
            for one, (axis, key) in itertools.product(point["dominated_by"], zip(("x", "y"), axes_of(tradeoff))):
                row = one[axis]
                weighed = court.weigh((*key, name), (*key, one["configuration"]), court.steps(*key))
                ratio = None if weighed.scale == "raw" else math.exp(weighed.effect)
                same(where, "ratio of a dominator", row["ratio"], ratio)
                same(where, "verdict of a dominator", row["verdict"], stands[(*key, one["configuration"], name)][1])
                ends(where, "ci of a dominator", row["ci"], weighed.bounds(court.level, row["verdict"]))


def grid(court, workload, metric, factors):
    """Levels, logarithm and block of every run of the grid."""
    levels = {c["name"]: c["factors"] for c in court.document["configurations"]}
    rows = [(name, cell) for (w, m, name), cell in court.cells.items() if (w, m) == (workload, metric)]
    blocked = all(block is not None for _, cell in rows for block in cell.blocks())
    for name, cell in rows:
        if set(factors) <= set(levels[name]):
            for run, value in zip(cell.runs, cell.values):
                yield tuple(levels[name][f] for f in factors), math.log(value), run["block"] if blocked else None


def by_image(court, contrasts):
    """The means of the contrasts of the blocks that start from each memory image."""
    image_of = {run["block"]: run["image"] for run in court.document["runs"]}
    images = {}
    for block, _, (value,) in contrasts:
        images.setdefault(image_of[block - 1], []).append(value)
    return [[image + 1, [0.0], [float(np.mean(values))]] for image, values in sorted(images.items())]


def ask_factorial(court):
    """Effects by least squares with a term for each block, and by block for the
    relabelings."""
    asked = []
    for fit in court.document["factorial"]:
        names = fit["factors"]
        terms = [(i,) for i in range(len(names))] + list(itertools.combinations(range(len(names)), 2))
        runs = list(grid(court, fit["workload"], fit["metric"], names))
        half = np.array([[0.5 if on else -0.5 for on in levels] for levels, _, _ in runs])
        y, blocks = np.array([x for _, x, _ in runs]), sorted({b for _, _, b in runs if b is not None})
        of_blocks = [[float(b == block) for _, _, b in runs] for block in blocks[1:]]
        columns = [np.ones(len(y))] + [half[:, list(term)].prod(axis=1) for term in terms] + of_blocks
        model = sm.OLS(y, np.column_stack(columns)).fit()
        whole = 2 ** len(names)
        held = {b: {levels: x for levels, x, at in runs if at == b} for b in blocks}
        number = collections.Counter(b for _, _, b in runs)
        complete = [b for b in blocks if len(held[b]) == number[b] == whole]
        for at, term in enumerate(terms):
            row = None
            if len(complete) > 1:
                row = {"blocks": [], "resolution": 0.0, "relative": True}
                for b in complete:
                    mean = lambda *want: np.mean([x for l, x in held[b].items() if all(l[i] == on for i, on in zip(term, want))])
                    value = mean(True) - mean(False)
                    if len(term) == 2:
                        value = mean(True, True) - mean(False, True) - mean(True, False) + mean(False, False)
                    row["blocks"].append([b + 1, [0.0], [float(value)]])
                if court.shared_images:
                    row["blocks"] = by_image(court, row["blocks"])
            if row is None:
                mine = {"effect": model.params[at + 1], "df": model.df_resid, "varies": model.bse[at + 1] > 1e-13}
                mine |= {"ci": model.conf_int()[at + 1], "p": float(model.pvalues[at + 1])}
            else:
                # Each effect has the error of its own contrasts.
                values = np.array([b[0] for _, _, b in row["blocks"]])
                of_one = stats.ttest_1samp(values, 0.0)
                of_flips = flips(values, 0.95, 0.0)
                mine = {"effect": values.mean(), "df": len(values) - 1}
                mine |= {"varies": values.std() > 1e-13, "p": float(of_one.pvalue)}
                mine |= {"ci": of_flips or of_one.confidence_interval(0.95)}
            p_t = mine["p"] if mine["varies"] and (row is None or len(row["blocks"]) >= 3) else None
            question = Question(row, p_t, None, fit["metric"] in court.primary)
            asked.append((fit, at, ":".join(names[i] for i in term), (int(model.nobs), mine), question))
    return asked


def factorial(court, asked):
    for fit, at, label, (runs, mine), q in asked:
        effect, where = fit["effects"][at], f"{fit['workload']} {fit['metric']} {label}"
        passes = lambda p: p is not None and p <= court.alpha
        same(where, "name", effect["name"], label)
        same(where, "ratio", effect["ratio"], math.exp(mine["effect"]))
        same(where, "n", fit["n"], runs)
        same(where, "residual_df", fit["residual_df"], mine["df"])
        same(where, "p_adjusted", effect["p_adjusted"], q.p_t_adjusted if q.p_adjusted is None else q.p_adjusted)
        supported = not passes(q.least) and passes(q.p_t_adjusted)
        verdict = "established" if passes(q.p_adjusted) else "supported" if supported else "undecided"
        if mine["varies"]:
            bounds = np.array(tuple(mine["ci"]))
            if verdict != "undecided":
                bounds = np.maximum(bounds, 0.0) if mine["effect"] > 0 else np.minimum(bounds, 0.0)
            ends(where, "ci", effect["ci"], np.exp(bounds))
            same(where, "p", effect["p"], mine["p"])
        same(where, "verdict", effect["verdict"], verdict)


def ask_rates(court):
    """Events are not in a document: of rates by windows the p is taken from there."""
    asked = []
    for row in court.document["rate_comparisons"]:
        if row.get("test") == "runs":
            left_out.append("events counted by run")
        if row.get("test") == "windows" and row["p"] is not None:
            asked.append((row, Question(None, row["p"], None, False)))
    return asked


def rates(court, asked):
    by_name = {}
    for row in court.document["rates"]:
        where = f"{row['event']} {row['configuration']}"
        by_name[row["workload"], row["event"], row["configuration"]] = row
        if row["exposure_s"] is None:
            continue
        k, t = row["count"], row["exposure_s"]
        same(where, "rate_per_s", row["rate_per_s"], k / t)
        low = stats.chi2.ppf(0.025, 2 * k) / 2 if k else 0.0
        high = stats.chi2.ppf(0.975, 2 * k + 2) / 2 if k else -math.log(0.05)
        ends(where, "ci", row["ci"], (low / t, high / t))
    for row in court.document["rate_comparisons"]:
        a = by_name[row["workload"], row["event"], row["baseline"]]
        b = by_name[row["workload"], row["event"], row["configuration"]]
        where = f"{row['event']} {row['configuration']} to {row['baseline']}"
        if row.get("test") == "poisson":
            total = a["count"] + b["count"]
            share = b["exposure_s"] / (a["exposure_s"] + b["exposure_s"])
            same(where, "p", row["p"], stats.binomtest(b["count"], total, share).pvalue if total else 1.0)
            same(where, "verdict", row["verdict"], "undecided")
    for row, q in asked:
        where = f"{row['event']} {row['configuration']} to {row['baseline']}"
        same(where, "p_adjusted", row["p_adjusted"], q.p_t_adjusted)
        supported = q.p_t_adjusted <= court.alpha
        same(where, "verdict", row["verdict"], "supported" if supported else "undecided")


def families_of(court, found):
    same("families", "number", len(court.document["families"]), len(found))
    for got, want in zip(court.document["families"], found):
        for name in want:
            same(f"family of {want['tests']} tests", name, got[name], want[name])


def main():
    parser = argparse.ArgumentParser(description="Recomputes the figures of a verdict.")
    parser.add_argument("--primary", nargs="*", default=[], metavar="METRIC")
    primary = parser.parse_args().primary
    document = json.load(sys.stdin)
    if document.get("machines"):
        print("runs of several machines: not computed again")
        return 2
    court = Court(document, primary)
    compared, fitted, counted = ask_comparisons(court), ask_factorial(court), ask_rates(court)
    paired_off = ask_tradeoffs(court, compared)
    questions = [asked[-1] for asked in compared + fitted + counted + paired_off]
    found = answer(court, questions)
    if left_out:
        print(f"not computed again: {', '.join(left_out)}")
        return 2
    families_of(court, found)
    comparisons(court, compared)
    factorial(court, fitted)
    rates(court, counted)
    others(court)
    tradeoffs(court, compared + paired_off)
    for line in wrong[:20]:
        print(line)
    print(f"{checked} figures computed again, {len(wrong)} differ by more than {TOLERANCE:g}")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
