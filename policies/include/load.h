/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recent load of tasks and CPUs.
 *
 * As in the kernel's own load tracking, run time counts half as much 32 units of
 * 2^20 ns later, which is 33.6 ms. The sum for something that
 * always runs converges to FULL_NS. A share is a sum divided by that, in
 * parts of 1024.
 */
#ifndef POLICIES_LOAD_H
#define POLICIES_LOAD_H

#include "scx.h"

#define MSEC			1000000ULL
/* The unit of time, and the number of units that halve the weight of run time. */
#define UNIT_SHIFT		20
#define HALF_SHIFT		5
/* 32 units / ln 2. */
#define FULL_NS			48408813ULL
/* The share of something that always runs. */
#define WHOLE			1024ULL

/* 2^32 * 2^(-n/32) */
static const u32 decay_inverse[32] = {
	0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a, 0xeac0c6e6, 0xe5b906e6,
	0xe0ccdeeb, 0xdbfbb796, 0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85,
	0xc5672a10, 0xc12c4cc9, 0xbd08a39e, 0xb8fbaf46, 0xb504f333, 0xb123f581,
	0xad583ee9, 0xa9a15ab4, 0xa5fed6a9, 0xa2704302, 0x9ef5325f, 0x9b8d39b9,
	0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a, 0x8b95c1e3, 0x88980e80,
	0x85aac367, 0x82cd8698,
};

/**
 * decayed - decay a sum over some time
 * @sum: at most FULL_NS
 * @ns: the elapsed time
 *
 * The error is below one part in 4000.
 */
static __always_inline u64 decayed(u64 sum, u64 ns)
{
	u64 halves = ns >> (UNIT_SHIFT + HALF_SHIFT);
	u64 units = (ns >> UNIT_SHIFT) & ((1 << HALF_SHIFT) - 1);
	u64 rest = ns & ((1 << UNIT_SHIFT) - 1);

	if (halves > 26)
		return 0;
	sum >>= halves;
	sum = (sum * decay_inverse[units]) >> 32;
	/* Within a unit the exponential is nearly linear. */
	return sum - sum * rest / FULL_NS;
}

/* Returns a sum after running for the whole time. */
static __always_inline u64 grown(u64 sum, u64 ns)
{
	return FULL_NS - decayed(sum < FULL_NS ? FULL_NS - sum : 0, ns);
}

/**
 * struct load - the load of a task or CPU
 * @sum: its value at @last
 * @last: when it last started or stopped running, in nanoseconds
 * @runs: whether it has been running since then
 */
struct load {
	u64 sum;
	u64 last;
	bool runs;
};

static __always_inline u64 load_at(const struct load *load, u64 now)
{
	u64 ns = now > load->last ? now - load->last : 0;

	return load->runs ? grown(load->sum, ns) : decayed(load->sum, ns);
}

static __always_inline void load_set(struct load *load, u64 now, bool runs)
{
	load->sum = load_at(load, now);
	load->last = now;
	load->runs = runs;
}

/* Returns the share, in parts of WHOLE. */
static __always_inline u64 share_at(const struct load *load, u64 now)
{
	return load_at(load, now) * WHOLE / FULL_NS;
}

#endif
