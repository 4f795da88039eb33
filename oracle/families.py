"""Reference values for families of tests: many contrasts together by step-down maxT,
the part of alpha that each class of tests has, and runs that resemble their
neighbours. `oracle/reference.py` writes and checks them with its own;
`oracle/independent.py` judges whole documents with the same functions.

Nothing is computed as crates/judge does it: every joint relabeling is written down,
and of each the statistics are computed from the values with numpy, the step down is
taken literally, and the special functions and roots are scipy's.
"""

import itertools
import math

import numpy as np
from scipy import optimize, special, stats

TIE = 1e-5
SUREST = 1e-5


def rng(seed):
    return np.random.Generator(np.random.PCG64(seed))


def floats(values):
    return [float(v) for v in values]


def wallace(t_squared, df):
    """The normal deviate of Wallace 1959 (his second), of t."""
    return (8 * df + 1) / (8 * df + 3) * np.sqrt(df * np.log1p(t_squared / df))


def differences(row):
    """b - a by block, or None if some block holds more than one run of a label or
    fewer than two blocks hold one of each."""
    both = [(a, b) for _, a, b in row["blocks"] if a and b]
    if any((len(a), len(b)) != (1, 1) for a, b in both) or len(both) < 2:
        return None
    return np.array([b[0] - a[0] for a, b in both])


def smyth(variances, df):
    """The prior of Smyth 2004, section 6.2, by its moment equations: None of fewer
    than four, at most 1000 degrees of freedom."""
    if len(variances) < 4:
        return None
    variances, df = np.array(variances), np.array(df)
    e = np.log(variances) - special.digamma(df / 2) + np.log(df / 2)
    excess = e.var(ddof=1) - special.polygamma(1, df / 2).mean()
    if excess <= special.polygamma(1, 500.0):
        d0 = 1000.0
    else:
        root = optimize.brentq(
            lambda u: math.log(special.polygamma(1, math.exp(u))) - math.log(excess), -30.0, 30.0, xtol=1e-14, rtol=1e-14
        )
        d0 = 2 * math.exp(root)
    return math.exp(e.mean() + special.digamma(d0 / 2) - math.log(d0 / 2)), d0


def varies(sizes):
    return sizes.var(ddof=1) > (SUREST * sizes.max()) ** 2


def prior_of(rows):
    sizes = [np.abs(d) for row in rows if row["relative"] and (d := differences(row)) is not None]
    sizes = [s for s in sizes if varies(s)]
    return smyth([s.var(ddof=1) for s in sizes], [len(s) - 1.0 for s in sizes])


def attainable(row):
    """By counting: the labelings of all blocks, and whether each has a mirror image."""
    count, mirrored = 1, True
    for _, a, b in row["blocks"]:
        count *= math.comb(len(a) + len(b), len(b))
        if a and b and len(a) != len(b):
            mirrored = False
    return min(1.0, (2 if mirrored else 1) / count)


def site_of(block):
    site, a, b = block
    return site, len(a), len(b)


def every_labeling(rows):
    """For each site the positions of b and of a in each of its labelings, and which
    labeling each site has in each of the joint relabelings; the observed one last."""
    sites = list(dict.fromkeys(site_of(block) for row in rows for block in row["blocks"]))
    of_site = []
    for _, n_a, n_b in sites:
        ours = list(itertools.combinations(range(n_a + n_b), n_b))
        rest = [[i for i in range(n_a + n_b) if i not in chosen] for chosen in ours]
        assert ours[-1] == tuple(range(n_a, n_a + n_b))
        of_site.append((np.array(ours, int).reshape(len(ours), n_b), np.array(rest, int).reshape(len(ours), n_a)))
    counts = [len(ours) for ours, _ in of_site]
    joint = np.unravel_index(np.arange(math.prod(counts)), counts)
    return {site: (of_site[at], joint[at]) for at, site in enumerate(sites)}, math.prod(counts)


def relabelled(row, labelings, values_of):
    """The values with label a and those with label b, a line for each relabeling."""
    sides = [], []
    for block in row["blocks"]:
        if not block[1] or not block[2]:
            continue
        (b_at, a_at), which = labelings[site_of(block)]
        values = values_of(block)
        sides[0].append(values[a_at[which]])
        sides[1].append(values[b_at[which]])
    return [np.concatenate(side, axis=1) for side in sides]


def statistics(row, labelings, count, prior):
    """The statistic of one row in each relabeling."""
    if not any(a and b for _, a, b in row["blocks"]):
        return np.zeros(count)
    observed = differences(row)
    if observed is not None:
        a, b = relabelled(row, labelings, lambda block: np.array(block[1] + block[2]))
        d, n = b - a, len(observed)
        own, weight, common = n - 1, 0.0, 0.0
        if prior and row["relative"] and varies(np.abs(observed)):
            common, weight = prior[0], min(prior[1], own)
        variance = (own * d.var(axis=1, ddof=1) + weight * common) / (own + weight)
        variance += 2 * row["resolution"] + (SUREST * np.abs(observed).max()) ** 2
        squared, df = n * d.mean(axis=1) ** 2, np.full(count, own + weight)
    else:
        centred = lambda block: np.array(block[1] + block[2]) - np.mean(block[1] + block[2])
        a, b = relabelled(row, labelings, centred)
        most = max(np.abs(centred(block)).max() for block in row["blocks"] if block[1] and block[2])
        floor = row["resolution"] + (SUREST * most) ** 2
        n_a, n_b = a.shape[1], b.shape[1]
        squared = (b.mean(axis=1) - a.mean(axis=1)) ** 2
        if min(n_a, n_b) < 2:
            df = np.full(count, max(1.0, n_a + n_b - 2.0))
            variance = ((n_a * a.var(axis=1) + n_b * b.var(axis=1)) / df + floor) * (1 / n_a + 1 / n_b)
        else:
            of_a = (a.var(axis=1, ddof=1) + floor) / n_a
            of_b = (b.var(axis=1, ddof=1) + floor) / n_b
            variance = of_a + of_b
            df = np.full(count, n_a + n_b - 2.0)
    z = np.zeros(count)
    some = (squared > 0) & (variance > 0)
    z[some] = wallace(squared[some] / variance[some], df[some])
    return z


def step_down(rows):
    """Westfall and Young 1993, algorithm 4.1, over every joint relabeling."""
    labelings, count = every_labeling(rows)
    prior = prior_of(rows)
    z = np.array([statistics(row, labelings, count, prior) for row in rows])
    observed = z[:, -1]
    reached = observed * (1 - TIE)
    raw = [int(np.count_nonzero(z[i] >= reached[i])) for i in range(len(rows))]
    first = []
    for i in range(len(rows)):
        no_more_striking = [j for j in range(len(rows)) if observed[j] <= observed[i]]
        first.append(int(np.count_nonzero(z[no_more_striking].max(axis=0) >= reached[i])))
    adjusted = [max(first[j] for j in range(len(rows)) if observed[j] >= observed[i]) for i in range(len(rows))]
    return {
        "relabelings": count,
        "prior": prior and floats(prior),
        "statistic": floats(observed),
        "p": [n / count for n in raw],
        "p_attainable": [attainable(row) for row in rows],
        "p_adjusted": [n / count for n in adjusted],
    }


def row(blocks, resolution=0.0, relative=True):
    blocks = [[site, floats(a), floats(b)] for site, a, b in blocks]
    return {"blocks": blocks, "resolution": resolution, "relative": relative}


def in_pairs(r, sites, effect=0.0, noise=0.02, **more):
    """One run of each label in each site."""
    return row([(s, [4 + noise * r.standard_normal()], [4 + effect + noise * r.standard_normal()]) for s in sites], **more)


def together(r, site, n_a, n_b, effect=0.0, noise=0.02, **more):
    return row([(site, 2 + noise * r.standard_normal(n_a), 2 + effect + noise * r.standard_normal(n_b))], **more)


def with_blocks(r, sizes, effect=0.0, first=0, **more):
    """Blocks with so many runs of each label, which have levels of their own."""
    blocks = []
    for at, (n_a, n_b) in enumerate(sizes, start=first):
        level = 3 * r.standard_normal()
        blocks.append((at, level + 0.1 * r.standard_normal(n_a), level + effect + 0.1 * r.standard_normal(n_b)))
    return row(blocks, **more)


def families():
    """Lists of rows by what they have in them."""
    r = rng(51)
    yield "a single row of pairs", [in_pairs(r, range(6), 0.03)]
    yield "pairs, equally many", [in_pairs(r, range(8), 0.01 * i, 0.01 + 0.01 * i) for i in range(5)]
    yield "pairs, one spread", [in_pairs(r, range(7), 0.01 * i) for i in range(8)]
    yield "pairs, spreads far apart", [in_pairs(r, range(7), 0.0, 10.0 ** -i) for i in range(6)]
    yield "pairs, unequally many", [in_pairs(r, range(n), 0.02) for n in (3, 5, 8, 10)]
    yield "pairs, three rows have no prior", [in_pairs(r, range(8), 0.01 * i) for i in range(3)]
    yield "pairs, not relative", [in_pairs(r, range(8), 0.01 * i, relative=False) for i in range(5)]
    mixed = [in_pairs(r, range(8), 0.02, 0.02, relative=i % 2 == 0) for i in range(9)]
    yield "pairs, some relative", mixed
    lacking = [in_pairs(r, range(8), 0.02) for _ in range(5)]
    for at, one in enumerate(lacking[:4]):
        one["blocks"][at][1 + at % 2] = []
    lacking[4]["blocks"] = lacking[4]["blocks"][:1] + [[7, [], [4.0]], [6, [4.0], []]] + lacking[4]["blocks"][1:4]
    yield "pairs, blocks that lack a run", lacking
    still = [row([(s, [4.0], [4.0]) for s in range(6)]), row([(s, [4.0], [4.1]) for s in range(6)])]
    yield "constant rows", still + [in_pairs(r, range(6), 0.02) for _ in range(5)]
    tied = lambda: row([(s, [0.0], [float(r.integers(-1, 3)) / 10]) for s in range(9)])
    yield "pairs, all tied", [tied() for _ in range(5)]
    same = in_pairs(r, range(7), 0.03)
    yield "the same row twice", [same, in_pairs(r, range(7), 0.01), same]
    for n in (4, 5, 6):
        yield f"{n} against {n}, not in blocks", [together(r, 3, n, n, 0.02 * i) for i in range(4)]
    yield "not in blocks, ties", [row([(3, r.integers(0, 3, 5) / 4, r.integers(0, 4, 5) / 4)]) for _ in range(6)]
    level = [row([(0, np.full(5, 2.0), np.full(5, 2.0))]), row([(0, np.full(5, 2.0), np.full(5, 2.5))])]
    yield "not in blocks, constant", level + [together(r, 0, 5, 5, 0.03)]
    yield "spreads that differ", [
        row([(0, 2 + 0.001 * r.standard_normal(5), 2 + 0.1 * r.standard_normal(5))]) for _ in range(3)
    ]
    yield "two sites, unequal n", [
        together(r, 1, 4, 5, 0.03), together(r, 2, 3, 6, 0.03), together(r, 1, 4, 5), together(r, 1, 2, 2),
    ]
    yield "one run of a side", [together(r, 1, 1, 8, 0.1), together(r, 1, 6, 1, 0.1), together(r, 2, 1, 1)]
    yield "one of each in one block", [together(r, 1, 1, 1, 0.1), together(r, 1, 3, 3, 0.1)]
    yield "blocks of two", [with_blocks(r, [(2, 2)] * 4, 0.1 * i) for i in range(4)]
    yield "blocks of several", [with_blocks(r, [(2, 2), (3, 2), (2, 1), (1, 2)], 0.1 * i) for i in range(3)]
    yield "blocks of one and two, one lacking", [
        with_blocks(r, [(1, 1), (2, 2), (1, 2), (3, 0), (0, 1)], 0.2),
        with_blocks(r, [(1, 1), (1, 1), (1, 2)], 0.2),
    ]
    yield "pairs beside others", [
        in_pairs(r, range(5), 0.03), together(r, 20, 4, 4, 0.03), with_blocks(r, [(2, 2)] * 2, 0.2, 30), in_pairs(r, range(4)),
    ]
    yield "resolution", [
        in_pairs(r, range(7), 0.02, resolution=x) for x in (0.0, 1e-6, 1e-4, 1e-2, 0.0)
    ] + [together(r, 30, 3, 3, 0.05, resolution=x) for x in (0.0, 1e-3)]
    yield "resolution of tied values", [
        row([(0, [0.0, 0.0, 0.1, 0.0], [0.1, 0.1, 0.1, 0.1])], resolution=x, relative=False) for x in (0.0, 1e-3, 1.0)
    ]
    yield "large and small values", [
        row([(0, s * (1e4 + r.standard_normal(5)), s * (1e4 + 1 + r.standard_normal(5)))], relative=False)
        for s in (1e-12, 1.0, 1e9)
    ]


def family():
    for what, rows in families():
        yield {"what": what, "rows": rows}, step_down(rows)


def family_drawn():
    """More relabelings than are visited: the p that draws estimate."""
    r = rng(52)
    rows = [in_pairs(r, range(20), effect, relative=False) for effect in (0.004, 0.012)]
    want = step_down(rows)
    yield {"rows": rows}, want


def rejected(p, alpha, share):
    """Which of two families' p are rejected at alpha, by carrying the procedure out."""
    parts = [share, 1 - share]
    level = [part * alpha for part in parts]
    if not p[0] or not p[1]:
        level = [alpha, alpha]
    passes = lambda v, at: v is not None and v <= at * (1 + 1e-12)
    while True:
        whole = [bool(ps) and all(passes(v, at) for v in ps) for ps, at in zip(p, level)]
        next_level = [alpha if whole[1 - i] else level[i] for i in (0, 1)]
        if next_level == level:
            return [[passes(v, at) for v in ps] for ps, at in zip(p, level)]
        level = next_level


def shared(first, second, share):
    """The smallest alpha at which each p is rejected; None is a NaN."""
    p = [list(first), list(second)]
    known = [v for ps in p for v in ps if v is not None]
    able = sorted({min(1.0, v / by) for v in known for by in (share, 1 - share, 1.0)})
    adjusted = [[None if v is None else 1.0 for v in ps] for ps in p]
    for alpha in reversed(able):
        for i, passed in enumerate(rejected(p, alpha, share)):
            for at, yes in enumerate(passed):
                if yes:
                    adjusted[i][at] = min(adjusted[i][at], alpha)
    return adjusted


def share_alpha():
    r = rng(53)
    cases = [([0.03, 0.5], [0.009, 0.02]), ([0.03], [0.04]), ([0.045], [0.004]), ([0.045], []), ([], [0.045, 0.2])]
    cases += [([None, 0.001], [0.001]), ([0.001], [None]), ([0.0, 0.0], [0.3]), ([1.0], [1.0]), ([None], [])]
    for _ in range(30):
        cases.append((floats(r.random(r.integers(1, 6)) ** 4), floats(r.random(r.integers(1, 9)) ** 4)))
    for first, second in cases:
        for share in (0.8, 0.5, 0.1):
            of = shared(first, second, share)
            yield {"first": first, "second": second, "share": share}, {"first": of[0], "second": of[1]}


def bartels(values):
    """The rank version of von Neumann's ratio, and the chance of one so small; None
    of few values or many ties."""
    n = len(values)
    if n < 10 or 10 * (n - len(set(values))) >= n:
        return None
    rank = stats.rankdata(values, method="ordinal")
    ratio = float(np.sum(np.diff(rank) ** 2) / np.sum((rank - rank.mean()) ** 2))
    variance = 4 * (n - 2) * (5 * n**2 - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    return ratio, float(stats.norm.cdf((ratio - 2) / math.sqrt(variance)))


def serial_likeness():
    r = rng(54)
    for n in (9, 10, 11, 20, 60):
        for weight in (0.0, 0.6, 0.95, -0.7):
            for ties in (0, 1, 6):
                values = r.standard_normal(n)
                for at in range(1, n):
                    values[at] = weight * values[at - 1] + math.sqrt(1 - weight**2) * values[at]
                for at in range(min(ties, n - 1)):
                    values[at] = values[-1]
                found = bartels(floats(values))
                yield {"values": floats(values)}, found and {"ratio": found[0], "p": found[1]}


FILES = [family, family_drawn, share_alpha, serial_likeness]
