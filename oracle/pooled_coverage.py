#!/usr/bin/env python3
"""How well the pooled interval and the tests of heterogeneity hold, simulated.

Machines whose noises are as 1 : 2 : 3 ..., a common effect of 0, n pairs each:
the share of 40,000 sets in which the 95 % interval covers the effect (Meier's,
and 1/W with the normal quantile), and in which p of Welch's test and of
Cochran's Q is at most 0.05. docs/statistics.md quotes it. Needs scipy.
"""

import numpy as np
from scipy import stats

SETS = 40_000


def simulate(r, k, n):
    y, v, f = np.empty((SETS, k)), np.empty((SETS, k)), n - 1
    for i in range(k):
        d = (1 + i) * r.standard_normal((SETS, n))
        y[:, i], v[:, i] = d.mean(1), d.var(1, ddof=1) / n
    w = 1 / v
    total = w.sum(1)
    u = w / total[:, None]
    mean = (u * y).sum(1)
    meier = np.sqrt((1 + 4 * (u * (1 - u) / f).sum(1)) / total)
    df = 1 / (u**2 / f).sum(1)
    q = (w * (y - mean[:, None]) ** 2).sum(1)
    bend = ((1 - u) ** 2 / f).sum(1)
    fisher = q / (k - 1) / (1 + 2 * (k - 2) * bend / (k**2 - 1))
    welch = stats.f.sf(fisher, k - 1, (k**2 - 1) / (3 * bend))
    return [
        np.mean(abs(mean) <= stats.t.ppf(0.975, df) * meier),
        np.mean(abs(mean) <= stats.norm.ppf(0.975) * total**-0.5),
        np.mean(welch <= 0.05),
        np.mean(stats.chi2.sf(q, k - 1) <= 0.05),
    ]


def main():
    r = np.random.default_rng(1)
    print("machines  pairs  Meier   1/W    Welch   Q")
    for k in (2, 3, 5):
        for n in (4, 6, 10, 20):
            shares = [f"{100 * share:5.1f}" for share in simulate(r, k, n)]
            print(f"{k:8}  {n:5}  " + "  ".join(shares))


if __name__ == "__main__":
    main()
