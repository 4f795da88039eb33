#!/usr/bin/env python3
"""Reference values for crates/judge, from scipy and statsmodels.

Needed only by whoever changes a statistic; the values are stored, so that the
tests themselves need no Python. On Debian:

    apt install python3-scipy python3-statsmodels
    /usr/bin/python3 oracle/reference.py            # write the files
    /usr/bin/python3 oracle/reference.py --check    # fail if they differ

Each file in crates/judge/tests/reference/ is a list of cases: `input`, the
arguments, and `want`, the answers by an implementation that shares no code
with ours. --check allows 1e-7 relative, a tenth of what the tests demand, so that
another scipy release or another kernel of its linear algebra passes; for the files
of designs.py and families.py, of which tests demand 1e-9, it allows 1e-10.
"""

import itertools
import json
import math
import pathlib
import sys

import numpy as np
import statsmodels.api as sm
from scipy import integrate, optimize, stats
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.oneway import anova_generic
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW, ttost_ind

import designs
import families

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parent / "crates" / "judge" / "tests" / "reference"


def rng(seed):
    return np.random.Generator(np.random.PCG64(seed))


def floats(values):
    return [float(v) for v in values]


def two_groups():
    """Pairs of positive samples: all sizes, scales, skews, and ties."""
    r = rng(1)
    sizes = [(2, 2), (2, 5), (3, 3), (4, 4), (5, 3), (8, 8), (12, 7), (25, 40), (40, 40)]
    for n_a, n_b in sizes:
        for scale in (1.0, 1e-9, 3e12):
            for spread in (1e-5, 0.02, 0.8):
                a = scale * np.exp(spread * r.standard_normal(n_a))
                b = scale * np.exp(0.5 * spread + 2 * spread * r.standard_normal(n_b))
                yield a, b
    for n_a, n_b in ((4, 4), (6, 9)):
        yield r.integers(1, 5, n_a) * 1.0, r.integers(2, 9, n_b) * 1.0
    yield np.full(3, 5.0), np.array([5.0, 6.0, 7.0])


def welch_of(x_a, x_b):
    means = CompareMeans(DescrStatsW(x_b), DescrStatsW(x_a))
    t = stats.ttest_ind(x_b, x_a, equal_var=False)
    v_a, v_b = x_a.var(ddof=1) / len(x_a), x_b.var(ddof=1) / len(x_b)
    return {
        "effect": float(x_b.mean() - x_a.mean()),
        "ci": floats(means.tconfint_diff(alpha=0.05, usevar="unequal")),
        "ci90": floats(means.tconfint_diff(alpha=0.10, usevar="unequal")),
        "standard_error": float(np.sqrt(v_a + v_b)),
        "df": float(means.dof_satt()),
        "p_t": float(t.pvalue),
    }


def exponentiated(e):
    out = dict(e, effect=math.exp(e["effect"]))
    out["ci"] = [math.exp(v) for v in e["ci"]]
    out["ci90"] = [math.exp(v) for v in e["ci90"]]
    return out


def welch():
    for a, b in two_groups():
        yield {"a": floats(a), "b": floats(b)}, {
            "ratio": exponentiated(welch_of(np.log(a), np.log(b))),
            "difference": welch_of(a, b),
        }


def paired_of(x_a, x_b):
    t = stats.ttest_rel(x_b, x_a)
    ends = {level: t.confidence_interval(level) for level in (0.95, 0.90)}
    return {
        "effect": float(np.mean(x_b - x_a)),
        "ci": floats(ends[0.95]),
        "ci90": floats(ends[0.90]),
        "standard_error": float(stats.sem(x_b - x_a)),
        "df": float(t.df),
        "p_t": float(t.pvalue),
    }


def paired():
    r = rng(18)
    for n in (2, 3, 5, 8, 24, 60):
        for scale in (1.0, 1e-9, 3e12):
            for spread in (1e-4, 0.02, 0.8):
                block = scale * np.exp(r.standard_normal(n))
                a = block * np.exp(spread * r.standard_normal(n))
                b = block * np.exp(0.5 * spread + spread * r.standard_normal(n))
                yield {"a": floats(a), "b": floats(b)}, {
                    "ratio": exponentiated(paired_of(np.log(a), np.log(b))),
                    "difference": paired_of(a, b),
                }


def flips():
    """The centres that no flip of signs rejects, by all subsets (Hartigan 1969)."""
    r = rng(19)
    for n in (6, 7, 8, 11, 12):
        for level in (0.95, 0.9, 0.99):
            for variance in (0.0, 0.01):
                d = 0.3 + r.standard_t(2, n)
                subsets = itertools.product((0, 1), repeat=n)
                means = sorted(np.mean(d[np.array(s, bool)]) for s in subsets if any(s))
                k = math.floor((1 - level) / 2 * 2**n + 1e-9)
                want = None
                if k:
                    hidden = stats.t.ppf(0.5 + level / 2, n - 1) * math.sqrt(variance)
                    halves = np.mean(d) - means[k - 1], means[-k] - np.mean(d)
                    want = [np.mean(d) - math.hypot(halves[0], hidden), np.mean(d) + math.hypot(halves[1], hidden)]
                    want = floats(want)
                yield {"differences": floats(d), "level": level, "variance": variance}, {"ci": want}


def summaries():
    cases = [
        (100.0, 2.0, 5, 90.0, 1.0, 5),
        (1e-6, 3e-8, 2, 2e-6, 1e-8, 30),
        (5e9, 1e8, 12, 5.1e9, 0.0, 3),
    ]
    for m_a, s_a, n_a, m_b, s_b, n_b in cases:
        v_a, v_b = (s_a / m_a) ** 2, (s_b / m_b) ** 2
        se = math.sqrt(v_a + v_b)
        df = (v_a + v_b) ** 2 / (v_a**2 / (n_a - 1) + v_b**2 / (n_b - 1))
        d = math.log(m_b / m_a)
        half, half90 = stats.t.ppf(0.975, df) * se, stats.t.ppf(0.95, df) * se
        want = {
            "effect": d,
            "ci": [d - half, d + half],
            "ci90": [d - half90, d + half90],
            "standard_error": se,
            "df": df,
            "p_t": float(2 * stats.t.sf(abs(d) / se, df)),
        }
        yield {"a": [m_a, s_a, n_a], "b": [m_b, s_b, n_b]}, exponentiated(want)


# The 13 trials of BCG vaccine against tuberculosis of Colditz et al. 1994: cases
# and others among the vaccinated, then among the rest. Viechtbauer 2010 ("Conducting
# meta-analyses in R with the metafor package", JSS 36(3)) prints Q = 152.2330 and
# the Q-profile interval of tau^2, [0.1197, 1.1115].
BCG = [
    (4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619),
    (33, 5036, 47, 5761), (180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892),
    (29, 7470, 45, 7232), (17, 1699, 65, 1600), (186, 50448, 141, 27197), (5, 2493, 3, 2338),
    (27, 16886, 29, 17825),
]


def studies():
    """Sets of effects with squared standard errors and degrees of freedom."""
    table = np.array(BCG, dtype=float)
    tpos, tneg, cpos, cneg = table.T
    y = np.log(tpos / (tpos + tneg)) - np.log(cpos / (cpos + cneg))
    v = 1 / tpos - 1 / (tpos + tneg) + 1 / cpos - 1 / (cpos + cneg)
    yield y, v, np.full(13, 1e6)
    r = rng(32)
    for k in (2, 3, 4, 7, 12):
        for tau in (0.0, 0.02, 0.5):
            for scale in (1.0, 1e-4):
                v = scale**2 * r.uniform(0.0004, 0.01, k)
                y = -0.1 + scale * tau * r.standard_normal(k) + np.sqrt(v) * r.standard_normal(k)
                yield y, v, r.uniform(2.0, 30.0, k)
    yield np.array([0.3, 0.3]), np.array([0.01, 0.04]), np.array([5.0, 9.0])


def tau2_at(y, v, target):
    def q(tau2):
        w = 1 / (v + tau2)
        return float(np.sum(w * (y - np.average(y, weights=w)) ** 2))
    if q(0.0) <= target:
        return 0.0
    top = 1.0
    while q(top) > target:
        top *= 2
    while q(top / 2) <= target:
        top /= 2
    return float(optimize.brentq(lambda t: q(t) - target, 0.0, top, xtol=1e-300, rtol=1e-14, maxiter=1000))


def pooled():
    for y, v, df in studies():
        k = len(y)
        w = 1 / v
        u = w / w.sum()
        q = float(np.sum(w * (y - np.average(y, weights=w)) ** 2))
        variance = (1 + 4 * np.sum(u * (1 - u) / df)) / w.sum()
        df_fixed = 1 / np.sum(u**2 / df)
        fixed = float(np.average(y, weights=w))
        half = lambda level: stats.t.ppf(0.5 + level / 2, df_fixed) * math.sqrt(variance)
        bend = float(np.sum((1 - u) ** 2 / df))
        f = q / (k - 1) / (1 + 2 * (k - 2) * bend / (k**2 - 1))
        tau2 = tau2_at(y, v, k - 1)
        tau2_ci = [tau2_at(y, v, stats.chi2.ppf(p, k - 1)) for p in (0.975, 0.025)]
        typical = (k - 1) * w.sum() / (w.sum() ** 2 - np.sum(w**2))
        ws = 1 / (v + tau2)
        mean = float(np.average(y, weights=ws))
        h = float(np.sum(ws * (y - mean) ** 2)) / (k - 1)
        squared = max(1.0, h) / ws.sum()
        reach = stats.t.ppf(0.975, k - 1) * math.sqrt(squared)
        # statsmodels is an implementation of its own for most of this; its
        # search for tau^2 wants effects of the order of 1.
        unit = math.sqrt(v.mean())
        other = combine_effects(y / unit, v / unit**2, method_re="iterated", use_t=True, atol=1e-6, maxiter=5000)
        near = lambda a, b: math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-9)
        assert near(other.q, q) and near(other.mean_effect_fe * unit, fixed)
        assert near(max(other.tau2, 0.0), tau2 / unit**2), (other.tau2, tau2 / unit**2)
        assert near(other.mean_effect_re, mean / unit)
        welch = float(stats.f.sf(f, k - 1, (k**2 - 1) / (3 * bend)))
        anova = anova_generic(y, v * (df + 1), df + 1, use_var="unequal", welch_correction=True)
        assert math.isclose(anova.pvalue, welch, rel_tol=1e-6, abs_tol=1e-15), (anova.pvalue, welch)
        if tau2 > 0:
            assert np.allclose(np.array(other.conf_int()[3]) * unit, (mean - reach, mean + reach), rtol=1e-5)
        if df[0] == 1e6:
            assert near(other.sd_eff_w_fe * unit, math.sqrt(variance))
            assert (round(q, 4), *(round(t, 4) for t in tau2_ci)) == (152.2330, 0.1197, 1.1115)
        want = {
            "fixed": fixed,
            "standard_error": math.sqrt(variance),
            "df": float(df_fixed),
            "ci": [fixed - half(0.95), fixed + half(0.95)],
            "ci90": [fixed - half(0.90), fixed + half(0.90)],
            "p_t": float(2 * stats.t.sf(abs(fixed) / math.sqrt(variance), df_fixed)),
            "shares": floats(u),
            "q": q,
            "q_p": float(stats.chi2.sf(q, k - 1)),
            "q_p_welch": welch,
            "tau2": tau2,
            "tau2_ci": tau2_ci,
            "i2": tau2 / (tau2 + typical),
            "i2_ci": [t / (t + typical) for t in tau2_ci],
            "random": mean,
            "random_se": math.sqrt(squared),
            "random_ci": [mean - reach, mean + reach],
        }
        if k > 2:
            far = stats.t.ppf(0.975, k - 2) * math.sqrt(tau2 + squared)
            want["prediction"] = [mean - far, mean + far]
        yield {"effects": floats(y), "variances": floats(v), "df": floats(df)}, want


def adjust():
    r = rng(3)
    lists = [floats(r.random(n) ** 3) for n in (1, 2, 3, 5, 10, 40)]
    lists += [[0.01, 0.01, 0.02, 0.02], [1.0, 0.9, 0.04], [1e-12, 0.5, 1e-12]]
    for p in lists:
        yield {"p": p}, {
            "holm": floats(multipletests(p, method="holm")[1]),
            "bh": floats(multipletests(p, method="fdr_bh")[1]),
        }


def equivalence():
    for a, b in two_groups():
        for margin in (0.01, 0.2):
            x_a, x_b = np.log(a), np.log(b)
            if x_a.var() + x_b.var() == 0:
                continue
            p, _, _ = ttost_ind(x_b, x_a, math.log1p(-margin), math.log1p(margin), usevar="unequal")
            yield {"a": floats(a), "b": floats(b), "margin": margin}, {"p": float(p)}


def factorial():
    r = rng(4)
    for k, repeats, balanced in ((1, 4, True), (2, 3, True), (2, 5, False), (3, 2, True), (3, 4, False), (4, 2, False)):
        for scale in (1.0, 1e-4):
            rows, x = [], []
            for levels in itertools.product((False, True), repeat=k):
                n = repeats if balanced else int(r.integers(1, repeats + 1))
                for _ in range(n):
                    rows.append(list(levels))
                    signs = [0.5 if on else -0.5 for on in levels]
                    mean = 7 + sum((i + 1) * s for i, s in enumerate(signs)) * scale
                    x.append(mean + scale * r.standard_normal())
            coded = np.where(np.array(rows), 0.5, -0.5)
            pairs = list(itertools.combinations(range(k), 2))
            matrix = np.column_stack(
                [np.ones(len(x)), coded] + [coded[:, i] * coded[:, j] for i, j in pairs]
            )
            fitted = sm.OLS(np.array(x), matrix).fit()
            names = [f"f{i}" for i in range(k)] + [f"f{i}:f{j}" for i, j in pairs]
            ci = fitted.conf_int(0.05)
            yield {"levels": rows, "x": x, "names": names[:k]}, {
                "names": names,
                "effect": floats(fitted.params[1:]),
                "t": floats(fitted.tvalues[1:]),
                "p": floats(fitted.pvalues[1:]),
                "low": floats(ci[1:, 0]),
                "high": floats(ci[1:, 1]),
                "df": int(fitted.df_resid),
                "sd": float(math.sqrt(fitted.mse_resid)),
            }


def factorial_in_blocks():
    r = rng(33)
    for k, machines, repeats in ((1, 2, 3), (2, 3, 2), (2, 4, 3), (3, 2, 2)):
        rows, blocks, x = [], [], []
        for machine in range(machines):
            for levels in itertools.product((False, True), repeat=k):
                for _ in range(int(r.integers(1, repeats + 1))):
                    rows.append(list(levels))
                    blocks.append(10 + machine)
                    effect = sum((0.1 + 0.05 * i) * on for i, on in enumerate(levels))
                    x.append(4.0 * machine + effect + 0.02 * r.standard_normal())
        coded = np.where(np.array(rows), 0.5, -0.5)
        pairs = list(itertools.combinations(range(k), 2))
        indicators = [np.array(blocks) == 10 + machine for machine in range(1, machines)]
        matrix = np.column_stack(
            [np.ones(len(x)), coded] + [coded[:, i] * coded[:, j] for i, j in pairs] + indicators
        ).astype(float)
        fitted = sm.OLS(np.array(x), matrix).fit()
        terms = slice(1, 1 + k + len(pairs))
        ci = fitted.conf_int(0.05)
        yield {"levels": rows, "x": x, "blocks": blocks, "names": [f"f{i}" for i in range(k)]}, {
            "names": [f"f{i}" for i in range(k)] + [f"f{i}:f{j}" for i, j in pairs],
            "effect": floats(fitted.params[terms]),
            "t": floats(fitted.tvalues[terms]),
            "p": floats(fitted.pvalues[terms]),
            "low": floats(ci[terms, 0]),
            "high": floats(ci[terms, 1]),
            "df": int(fitted.df_resid),
            "sd": float(math.sqrt(fitted.mse_resid)),
        }


def garwood():
    for count in (0, 1, 2, 3, 10, 57, 1000, 100000):
        for exposure in (1.0, 3600.0, 1e-3):
            for level in (0.90, 0.95, 0.99):
                tail = (1 - level) / 2
                low = stats.chi2.ppf(tail, 2 * count) / 2 if count else 0.0
                high = stats.chi2.isf(tail if count else 1 - level, 2 * count + 2) / 2
                yield {"count": count, "exposure": exposure, "level": level}, {
                    "low": float(low / exposure),
                    "high": float(high / exposure),
                }


def rates():
    counts = [(0, 0), (0, 3), (5, 0), (1, 1), (3, 9), (10, 10), (100, 130), (2000, 2100), (50000, 49000), (7, 400)]
    for c_a, c_b in counts:
        for t_a, t_b in ((1.0, 1.0), (3600.0, 1200.0), (0.5, 1.7), (1.0, 1000.0)):
            chance = t_b / (t_a + t_b)
            p = stats.binomtest(c_b, c_a + c_b, chance).pvalue if c_a + c_b else 1.0
            yield {"a": [c_a, t_a], "b": [c_b, t_b]}, {"p": float(p)}


def gaps():
    r = rng(5)
    for n in (4, 5, 12, 40, 300):
        for kind in ("poisson", "clustered", "regular"):
            g = {
                "poisson": r.exponential(2.0, n),
                "clustered": r.gamma(0.2, 10.0, n),
                "regular": r.gamma(20.0, 0.1, n),
            }[kind]
            times = floats(np.cumsum(g))
            g = np.diff(times)
            m = len(g)
            b = 2 * m * (np.log(g.mean()) - np.log(g).mean()) / (1 + (m + 1) / (6 * m))
            yield {"times": times}, {
                "mean": float(g.mean()),
                "cv": float(g.std(ddof=1) / g.mean()),
                "statistic": float(b),
                "p_regular": float(stats.chi2.cdf(b, m - 1)),
                "p_clustered": float(stats.chi2.sf(b, m - 1)),
            }


def quantiles():
    r = rng(6)
    for n in (1, 2, 3, 10, 37, 100, 1000):
        values = np.sort(np.exp(r.standard_normal(n)) * 10 ** float(r.integers(-6, 6)))
        if n == 37:
            values = np.sort(np.round(r.random(n), 1))
        ps = [0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0]
        want = {"type7": floats(np.quantile(values, ps)), "intervals": []}
        for p in (0.1, 0.5, 0.9, 0.99):
            for level in (0.9, 0.95):
                want["intervals"].append([p, level, order_interval(n, p, level)])
        yield {"sorted": floats(values), "p": ps}, want


def order_interval(n, p, level):
    """Ranks (from 1) and coverage, by walking over all ranks."""
    tail = (1 - level) / 2
    k = stats.binom(n, p)
    lows = [rank for rank in range(1, n + 1) if k.cdf(rank - 1) <= tail]
    highs = [rank for rank in range(1, n + 1) if k.sf(rank - 1) <= tail]
    if not lows or not highs:
        return None
    low, high = max(lows), min(highs)
    return [low, high, float(k.cdf(high - 1) - k.cdf(low - 1))]


def jitter():
    r = rng(10)
    for n in (2, 3, 10, 999, 1000, 1500):
        values = 1e4 + 50 * r.standard_t(3, n)
        spread = np.quantile(values, 0.99) - np.quantile(values, 0.5)
        yield {"values": floats(values)}, {
            "sd": float(values.std(ddof=1)),
            "mad": float(stats.median_abs_deviation(values)),
            "p99_minus_p50": float(spread) if n >= 1000 else None,
            "max": float(values.max()),
        }


def exact_power(n, sd, ratio, alpha):
    return float(TTestIndPower().power(abs(math.log(ratio)) / sd, n, alpha))


def power():
    for sd in (0.005, 0.02, 0.1):
        for ratio in (1.01, 0.95, 1.1, 1.5):
            for alpha in (0.05, 0.01):
                want = {"power": [[n, exact_power(n, sd, ratio, alpha)] for n in (2, 3, 5, 12, 40, 1000)]}
                yield {"sd": sd, "ratio": ratio, "alpha": alpha}, want


def equivalence_power(n, sd, margin, alpha):
    df, scale = 2 * n - 2, sd * math.sqrt(2 / n)
    low, high = math.log1p(-margin) / scale, math.log1p(margin) / scale
    t = stats.t.ppf(1 - alpha, df)

    def integrand(s):
        inside = stats.norm.cdf(high - t * s) - stats.norm.cdf(low + t * s)
        return inside * stats.chi.pdf(s * math.sqrt(df), df) * math.sqrt(df)

    limit = (high - low) / (2 * t)
    reach = 14 / math.sqrt(2 * df)
    top = min(limit, 1 + reach)
    bottom = max(0.0, 1 - reach)
    if top <= bottom:
        return 0.0
    return integrate.quad(integrand, bottom, top, limit=200, epsabs=1e-12, epsrel=1e-12)[0]


def equivalence_runs():
    for sd, margin in ((0.005, 0.01), (0.02, 0.01), (0.02, 0.05), (0.1, 0.1), (0.002, 0.01)):
        for alpha in (0.05, 0.025):
            for target in (0.8, 0.9):
                n = 2
                while equivalence_power(n, sd, margin, alpha) < target:
                    n += 1
                yield {"sd": sd, "margin": margin, "alpha": alpha, "power": target}, {"runs": n}


def drift():
    r = rng(11)
    for n in (6, 7, 10, 20, 33, 34, 40):
        for slope in (0.0, 0.2, -0.5):
            values = r.standard_normal(n) + slope * np.arange(n)
            for v in (values, np.round(values)):
                if np.ptp(v) == 0:
                    continue
                tied = len(set(v)) < n
                method = "asymptotic" if tied or n > 33 else "exact"
                tau, p = stats.kendalltau(np.arange(n), v, method=method)
                yield {"values": floats(v)}, {"tau": float(tau), "p": float(p)}


def outlier():
    r = rng(12)
    for n in (5, 8, 20, 40):
        for _ in range(4):
            values = 100 * np.exp(0.02 * r.standard_t(2, n))
            x = np.log(values)
            score = 0.6745 * np.abs(x - np.median(x)) / stats.median_abs_deviation(x)
            yield {"values": floats(values)}, {"indices": [int(i) for i in np.flatnonzero(score > 3.5)]}


FILES = [
    welch, paired, flips, summaries, pooled, adjust, equivalence, factorial,
    factorial_in_blocks, garwood, rates, gaps, quantiles,
    jitter, power, equivalence_runs, drift, outlier,
]


def same(a, b, tolerance):
    if isinstance(a, float) or isinstance(b, float):
        numbers = type(a) in (int, float) and type(b) in (int, float)
        return numbers and math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-300)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], tolerance) for k in a)
    return a == b


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    differing = []
    OUT.mkdir(parents=True, exist_ok=True)
    for make in FILES + designs.FILES + families.FILES:
        tolerance = 1e-7 if make in FILES else 1e-10
        cases = [{"input": i, "want": w} for i, w in make()]
        path = OUT / f"{make.__name__}.json"
        if check:
            if not path.exists() or not same(json.loads(path.read_text()), json.loads(json.dumps(cases)), tolerance):
                differing.append(path.name)
        else:
            lines = ",\n".join(json.dumps(c, allow_nan=False) for c in cases)
            path.write_text(f"[\n{lines}\n]\n")
    if differing:
        sys.exit("reference.py: differ from the stored values: " + ", ".join(differing))


if __name__ == "__main__":
    main()
