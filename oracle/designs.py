"""Reference values for what plans, blocks, looks and machines need, by numpy and
scipy. `oracle/reference.py` writes and checks them with its own; these must agree
to 1e-9 relative, a thousandth of what the older ones are held to.
"""

import itertools
import math

import numpy as np
import statsmodels.api as sm
from scipy import integrate, optimize, special, stats


def rng(seed):
    return np.random.Generator(np.random.PCG64(seed))


def floats(values):
    return [float(v) for v in values]


def block_contrasts():
    r = rng(41)
    for k, machines, blocks in ((1, 1, 6), (2, 2, 4), (3, 3, 3), (4, 1, 2)):
        names = [f"f{i}" for i in range(k)]
        pairs = list(itertools.combinations(range(k), 2))
        rows, where, x = [], [], []
        contrasts = {}
        for machine, block in itertools.product(range(machines), range(blocks)):
            base = 4.0 + machine + 0.2 * r.standard_normal()
            cells = {}
            grid = list(itertools.product((False, True), repeat=k))
            r.shuffle(grid)
            for levels in map(tuple, grid):
                levels = tuple(map(bool, levels))
                effect = sum((0.1 + 0.05 * i) * on for i, on in enumerate(levels))
                value = float(base + effect + 0.02 * r.standard_normal())
                cells[levels] = value
                rows.append(list(levels))
                where.append([machine, block])
                x.append(value)
            mean = lambda holds: np.mean([v for levels, v in cells.items() if holds(levels)])
            for i in range(k):
                off, on = (mean(lambda l: l[i] == level) for level in (False, True))
                contrasts.setdefault(names[i], []).append(float(on - off))
            for i, j in pairs:
                ratio = lambda level: mean(lambda l: l[i] and l[j] == level) - mean(lambda l: not l[i] and l[j] == level)
                contrasts.setdefault(f"{names[i]}:{names[j]}", []).append(float(ratio(True) - ratio(False)))
        coded = np.where(np.array(rows), 0.5, -0.5)
        labels = [tuple(w) for w in where]
        indicators = [np.array([one == label for one in labels]) for label in sorted(set(labels))[1:]]
        matrix = np.column_stack(
            [np.ones(len(x)), coded] + [coded[:, i] * coded[:, j] for i, j in pairs] + indicators
        ).astype(float)
        fitted = sm.OLS(np.array(x), matrix).fit()
        terms = slice(1, 1 + k + len(pairs))
        order = names + [f"{names[i]}:{names[j]}" for i, j in pairs]
        yield {"levels": rows, "x": x, "blocks": where, "names": names}, {
            "names": order,
            "contrasts": [contrasts[name] for name in order],
            "effect": floats(fitted.params[terms]),
            "standard_error": floats(fitted.bse[terms]),
            "df": int(fitted.df_resid),
        }


def window_counts(times, exposure):
    number = min(50, max(6, round(len(times) / 5)))
    counts, _ = np.histogram(times, bins=np.linspace(0, exposure, number + 1))
    assert counts.sum() == len(times)
    return counts


def clustered_rates():
    r = rng(42)
    for size, expected, longer in ((1, 40, 1.0), (2, 60, 0.5), (3, 90, 3.0), (5, 400, 1.7), (1, 900, 1.0)):
        sides = []
        for exposure, rate in ((30.0, expected), (30.0 * longer, expected * longer * 1.4)):
            clusters = r.uniform(0, exposure, max(3 if size > 3 else 12 // size, r.poisson(rate / size)))
            sides.append((floats(np.repeat(clusters, size)), exposure))
        variance, df, phi = [], [], []
        for times, exposure in sides:
            counts = window_counts(times, exposure)
            # The log rate of a Poisson model with only an intercept.
            scale = stats.chisquare(counts).statistic / (len(counts) - 1)
            fitted = sm.GLM(counts, np.ones(len(counts)), family=sm.families.Poisson()).fit(scale="X2")
            assert math.isclose(fitted.scale, scale, rel_tol=1e-8)
            if scale > 1:
                assert math.isclose(fitted.bse[0] ** 2, scale / len(times), rel_tol=1e-6)
            phi.append(max(1.0, float(scale)))
            variance.append(phi[-1] / len(times))
            df.append(len(counts) - 1)
        d = math.log(len(sides[1][0]) / sides[1][1]) - math.log(len(sides[0][0]) / sides[0][1])
        total = sum(variance)
        both = total**2 / sum(v**2 / f for v, f in zip(variance, df))
        half = stats.t.ppf(0.975, both) * math.sqrt(total)
        a, b = ({"times": times, "exposure": exposure} for times, exposure in sides)
        yield {"a": a, "b": b}, {
            "ratio": math.exp(d),
            "ci": [math.exp(d - half), math.exp(d + half)],
            "standard_error": math.sqrt(total),
            "df": float(both),
            "p": float(2 * stats.t.sf(abs(d) / math.sqrt(total), both)),
            "phi": phi,
        }


def trends_by_brute_force(sizes):
    """The chances of each sum of rising minus falling pairs, no ties."""
    chances = {0: 1.0}
    for n in sizes:
        one = {}
        for order in itertools.permutations(range(n)):
            s = sum(np.sign(b - a) for a, b in itertools.combinations(order, 2))
            one[int(s)] = one.get(int(s), 0.0) + 1 / math.factorial(n)
        both = {}
        for (s, p), (t, q) in itertools.product(chances.items(), one.items()):
            both[s + t] = both.get(s + t, 0.0) + p * q
        chances = both
    return chances


def trends():
    r = rng(43)
    designs = [[6], [3, 3, 3, 3], [4, 5, 1], [2] * 10, [5, 5, 3], [12, 12, 12], [20, 20, 20, 20], [40, 7]]
    for sizes in designs:
        for slope in (0.0, 0.3):
            for kind in ("plain", "tied"):
                groups = [10.0 * g + slope * np.arange(n) + r.standard_normal(n) for g, n in enumerate(sizes)]
                if kind == "tied":
                    groups = [np.round(group) for group in groups]
                total = variance = pairs = untied = 0
                ties = False
                for group in groups:
                    signs = [np.sign(b - a) for a, b in itertools.combinations(group, 2)]
                    total += int(sum(signs))
                    pairs += len(signs)
                    untied += int(np.count_nonzero(signs))
                    n, (_, t) = len(group), np.unique(group, return_counts=True)
                    ties |= bool((t > 1).any())
                    variance += (n * (n - 1) * (2 * n + 5) - (t * (t - 1) * (2 * t + 5)).sum()) / 18
                if max(sizes) <= 6 and not ties:
                    chances = trends_by_brute_force(sizes)
                    p = sum(q for s, q in chances.items() if abs(s) >= abs(total))
                elif pairs <= 528 and not ties:
                    # By the generating function of inversions, in whole numbers.
                    ways = [1]
                    for n in sizes:
                        for m in range(2, n + 1):
                            ways = [sum(ways[max(0, i - m + 1) : i + 1]) for i in range(len(ways) + m - 1)]
                    low = (pairs - abs(total)) // 2
                    p = min(1.0, 2 * sum(ways[: low + 1]) / sum(ways))
                else:
                    z = max(0, abs(total) - 1) / math.sqrt(variance)
                    p = 2 * stats.norm.sf(z)
                yield {"groups": [floats(g) for g in groups]}, {
                    "tau": total / math.sqrt(untied * pairs),
                    "p": float(min(1.0, p)),
                }


def spending():
    """Looks: of all that end with the last and suffice, those taken first."""
    for alpha in (0.05, 0.04, 0.01, 0.1):
        for fractions in ([1.0], [0.5, 1.0], [i / 12 for i in range(1, 13)], [0.25, 0.6, 0.9, 1.0]):
            spent = [2 * float(stats.norm.sf(stats.norm.isf(alpha / 2) / math.sqrt(t))) for t in fractions]
            most = 12
            floors = [min(1.0, 2.0 ** (1 - round(most * t))) for t in fractions]
            last = len(fractions) - 1
            # Early looks come first: the smallest set in the order of its members.
            able = []
            for chosen in itertools.product((True, False), repeat=last):
                taken = [i for i in range(last) if chosen[i]] + [last]
                parts = np.diff([0.0] + [spent[i] for i in taken])
                if all(part >= floors[i] - 1e-12 for part, i in zip(parts, taken)):
                    able.append((taken, floats(parts)))
            want = able[0] if able else None
            yield {"alpha": alpha, "fractions": fractions, "floors": floors}, {
                "spent": spent,
                "levels": floats(np.diff([0.0] + spent)),
                "looks": want and want[0],
                "look_levels": want and want[1],
            }


def equivalence_of_pairs():
    r = rng(45)
    for n in (2, 3, 6, 10, 40):
        for noise in (0.001, 0.02):
            for shift in (0.0, 0.008, 0.05):
                for margin in (0.01, 0.1):
                    a = np.exp(5 + r.standard_normal(n))
                    b = a * np.exp(shift + noise * r.standard_normal(n))
                    d = np.log(b) - np.log(a)
                    above = stats.ttest_1samp(d, math.log1p(-margin), alternative="greater").pvalue
                    below = stats.ttest_1samp(d, math.log1p(margin), alternative="less").pvalue
                    yield {"a": floats(a), "b": floats(b), "margin": margin}, {"p": float(max(above, below))}


def share_missed():
    for n in (1, 2, 3, 5, 10, 25, 100, 10000):
        for alpha in (0.05, 0.01, 0.2):
            limit = stats.binomtest(0, n).proportion_ci(1 - 2 * alpha, "exact").high
            yield {"n": n, "alpha": alpha}, {"share": float(limit)}


def power_of_shift(shift, df, level):
    """The noncentral t beyond its critical values, as an integral."""
    t = stats.t.isf(level / 2, df)

    # What stats.chi.pdf gives, a hundred times as fast.
    scale = math.log(2) * (1 - df / 2) + math.log(df) * df / 2 - special.gammaln(df / 2)

    def integrand(s):
        beyond = special.ndtr(shift - t * s) + special.ndtr(-shift - t * s)
        return beyond * math.exp(scale + (df - 1) * math.log(s) - df * s * s / 2) if s > 0 else 0.0

    reach = 14 / math.sqrt(2 * df)
    return integrate.quad(integrand, max(0.0, 1 - reach), 1 + reach, limit=400, epsabs=1e-12, epsrel=1e-12)[0]


def least_p(layout, n):
    ways = 2**n if layout == "pairs" else math.comb(2 * n, n)
    return 2 / ways if ways <= 10**6 else 1 / 100000


def designs():
    for layout in ("pairs", "two-samples"):
        for n in (4, 6, 8, 10, 40, 200):
            for rows, alpha, power in ((1, 0.05, 0.8), (1, 0.01, 0.9), (6, 0.04, 0.8), (60, 0.05, 0.8)):
                floor, df = least_p(layout, n), n - 1 if layout == "pairs" else 2 * n - 2
                level = max(alpha / rows, floor)
                least = None
                if floor <= alpha:
                    shift = optimize.brentq(lambda x: power_of_shift(x, df, level) - power, 0.1, 60, xtol=1e-12, rtol=1e-12)
                    least = math.exp(shift * 0.03 * math.sqrt(2 / n))
                given = {"layout": layout, "runs": n, "rows": rows, "alpha": alpha, "power": power, "sd": 0.03}
                yield given, {"floor": floor, "least": least}


def runs_for():
    for layout in ("pairs", "two-samples"):
        for ratio in (0.96, 1.1, 1.5):
            for rows, alpha, power in ((1, 0.05, 0.8), (6, 0.04, 0.8), (60, 0.01, 0.9)):
                n = 2
                while True:
                    df, floor = n - 1 if layout == "pairs" else 2 * n - 2, least_p(layout, n)
                    shift = abs(math.log(ratio)) / 0.03 * math.sqrt(n / 2)
                    if floor <= alpha and power_of_shift(shift, df, max(alpha / rows, floor)) >= power:
                        break
                    n += 1
                given = {"layout": layout, "ratio": ratio, "rows": rows, "alpha": alpha, "power": power, "sd": 0.03}
                yield given, {"runs": n}


FILES = [
    block_contrasts, clustered_rates, trends, spending,
    equivalence_of_pairs, share_missed, designs, runs_for,
]
