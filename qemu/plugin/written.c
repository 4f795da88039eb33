// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the counts: assize.counts/2. */

#include "count.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void write_blocks(FILE *file)
{
	bool *used = calloc(blocks_used + 1, sizeof(*used));

	if (!used)
		abort();
	for (uint32_t i = 0; i < tasks_used; i++)
		for (uint32_t j = 0; j < tasks[i]->room && j < blocks_used; j++)
			used[j] |= tasks[i]->whole[j] != 0;
	for (uint32_t i = 0; i < parts_used; i++)
		used[parts[i].block] = true;
	for (uint32_t i = 0; i < blocks_used; i++) {
		if (!used[i])
			continue;
		fprintf(file, "block %u %" PRIx64, i, blocks[i]->address);
		for (uint32_t j = 0; j < blocks[i]->length; j++)
			fprintf(file, "%c%x", j ? ',' : ' ',
				blocks[i]->offsets[j]);
		for (uint32_t j = 0; j < blocks[i]->code_length; j++)
			fprintf(file, "%s%02x", j ? "" : " ", blocks[i]->code[j]);
		fputc('\n', file);
	}
	free(used);
}

static void write_tasks(FILE *file)
{
	for (uint32_t i = 0; i < tasks_used; i++) {
		const struct task *task = tasks[i];

		fprintf(file, "task %u %u %d %d %s\n", i, task->cpu, task->pid,
			task->tgid, task->name);
		for (uint32_t j = 0; j < task->room && j < blocks_used; j++)
			if (task->whole[j])
				fprintf(file, "whole %u %u %" PRIu64 "\n", i, j,
					task->whole[j]);
	}
	for (uint32_t i = 0; i < parts_used; i++)
		fprintf(file, "part %u %u %u %" PRIu64 "\n", parts[i].task,
			parts[i].block, parts[i].executed, parts[i].times);
}

/* Whether anything was executed at a node or below it. */
static bool reached(const struct node *node)
{
	if (node->own || node->entered)
		return true;
	for (const struct node *one = node->first; one; one = one->next)
		if (reached(one))
			return true;
	return false;
}

/* Writes a node before its callees, which refer to it by number, from 1. */
static uint32_t write_node(FILE *file, const struct node *node, uint32_t parent, uint32_t number)
{
	if (!reached(node))
		return number;
	if (!node->unknown) {
		fprintf(file, "node %u %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", parent,
			node->function, node->own, node->entered);
		parent = number++;
	}
	for (const struct node *one = node->first; one; one = one->next)
		number = write_node(file, one, parent, number);
	return number;
}

static void write_trees(FILE *file)
{
	uint32_t number = 1;

	for (uint32_t i = 0; i < nodes_used; i++) {
		const struct node *root = nodes[i];

		if (!root->task)
			continue;
		fprintf(file, "root %u\n", root->task->id);
		for (const struct node *one = root->first; one; one = one->next)
			number = write_node(file, one, 0, number);
	}
}

/* Writes all counts. */
void write_counts(void)
{
	char whole[sizeof(map.out) + 8];
	uint64_t skipped = 0;
	FILE *file;
	int failed;

	if (!map.out[0])
		return;
	/* Renamed only when complete: QEMU may be killed meanwhile. */
	snprintf(whole, sizeof(whole), "%s.part", map.out);
	file = fopen(whole, "w");
	if (!file)
		return;
	for (unsigned int i = 0; i < CPUS; i++)
		skipped += cpus[i].skipped;
	fputs("assize.counts/2\n", file);
	write_blocks(file);
	settle_names();
	write_tasks(file);
	write_trees(file);
	write_missed(file);
	for (int i = 0; i < probes_used; i++) {
		fprintf(file, "entries %d %" PRIu64 "\n", i, probes[i].entries);
		for (int j = 0; j < 65; j++)
			if (probes[i].buckets[j])
				fprintf(file, "bucket %d %d %" PRIu64 "\n", i, j,
					probes[i].buckets[j]);
	}
	fprintf(file,
		"window %s cpus %u readings %" PRIu64 " mismatches %" PRIu64
		" early %" PRIu64 " unclear %" PRIu64 " skipped %" PRIu64
		" lost %" PRIu64 "\n",
		window == WINDOW_AFTER ? "closed" : "open", cpus_seen, checks.readings,
		checks.mismatches, checks.early, checks.unclear, skipped, checks.lost);
	fputs("end\n", file);
	failed = ferror(file);
	if (fclose(file) || failed || rename(whole, map.out))
		perror("assize count: write what was counted");
}
