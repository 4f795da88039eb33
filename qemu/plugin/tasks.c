// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks of the machine, and the blocks that each executed. */

#include "count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct task **tasks;
uint32_t tasks_used;
static uint32_t tasks_room;
static struct task *task_table[TASK_SLOTS];
struct part *parts;
uint32_t parts_used;
static uint32_t parts_room;

/* Returns the thread of a task, which is the same on all CPUs. */
static struct thread *thread_of(struct task *task)
{
	for (uint32_t i = 0; i < tasks_used && task->pointer; i++)
		if (tasks[i]->pointer == task->pointer && tasks[i]->pid == task->pid &&
		    tasks[i] != task)
			return tasks[i]->thread;
	return new_thread(task);
}

struct task *find_task(uint64_t pointer, unsigned int cpu, int pid)
{
	uint64_t key = (pointer >> 6) ^ ((uint64_t)cpu << 40) ^
		       ((uint64_t)(uint32_t)pid << 24);
	uint32_t slot = (key * 0x9e3779b97f4a7c15ULL) >> 48;
	struct task *task;

	while ((task = task_table[slot])) {
		if (task->pointer == pointer && task->cpu == cpu &&
		    task->pid == pid)
			return task;
		slot = (slot + 1) % TASK_SLOTS;
	}
	if (tasks_used + 1 >= TASK_SLOTS) {
		fprintf(stderr, "assize count: more than %d tasks\n",
			TASK_SLOTS - 1);
		abort();
	}
	if (tasks_used == tasks_room) {
		tasks_room = tasks_room ? 2 * tasks_room : 256;
		tasks = grown(tasks, tasks_room * sizeof(*tasks));
	}
	task = grown(NULL, sizeof(*task));
	memset(task, 0, sizeof(*task));
	task->pointer = pointer;
	task->cpu = cpu;
	task->pid = pid;
	task->id = tasks_used;
	tasks[tasks_used++] = task;
	if (map.functions_used)
		task->thread = thread_of(task);
	task_table[slot] = task;
	return task;
}

/* Reads the current name of a task, which exec and prctl change. */
void name_task(struct task *task)
{
	static uint64_t names;

	if (!task->pointer)
		return;
	read_memory(task->pointer + map.comm, task->name, NAME_LENGTH);
	task->named = ++names;
}

/* Returns the task that __switch_to() switches to. */
struct task *switched_to(struct task *from, unsigned int cpu)
{
	uint64_t pointer = read_register(registers.rsi);
	struct task *task;
	int pid = -1;

	read_memory(pointer + map.pid, &pid, sizeof(pid));
	task = find_task(pointer, cpu, pid);
	read_memory(pointer + map.tgid, &task->tgid, sizeof(task->tgid));
	name_task(from);
	name_task(task);
	return task;
}

/*
 * A thread that renames itself keeps its old name on CPUs to which it has
 * not returned since.
 */
void settle_names(void)
{
	for (uint32_t i = 0; i < tasks_used; i++) {
		const struct task *last = tasks[i];

		for (uint32_t j = 0; j < tasks_used && last->pointer; j++)
			if (tasks[j]->pointer == tasks[i]->pointer &&
			    tasks[j]->pid == tasks[i]->pid &&
			    tasks[j]->named > last->named)
				last = tasks[j];
		if (last != tasks[i])
			memcpy(tasks[i]->name, last->name, sizeof(last->name));
	}
}

/* Makes room for the counts of blocks up to this one. */
void make_room(struct task *task, const struct block *block)
{
	uint32_t room = task->room ? task->room : 1024;

	while (room <= block->id)
		room *= 2;
	task->whole = grown(task->whole, room * sizeof(*task->whole));
	memset(task->whole + task->room, 0, (room - task->room) * sizeof(*task->whole));
	task->room = room;
}

void count_part(struct task *task, const struct block *block, uint32_t executed)
{
	struct part *part;

	task->whole[block->id]--;
	if (!executed)
		return;
	for (uint32_t i = parts_used; i-- > 0;) {
		part = &parts[i];
		if (part->task == task->id && part->block == block->id &&
		    part->executed == executed) {
			part->times++;
			return;
		}
	}
	if (parts_used == parts_room) {
		parts_room = parts_room ? 2 * parts_room : 256;
		parts = grown(parts, parts_room * sizeof(*parts));
	}
	parts[parts_used++] = (struct part){ task->id, block->id, executed, 1 };
}

/* Restarts counting. */
void forget_counts(void)
{
	for (uint32_t i = 0; i < tasks_used; i++)
		if (tasks[i]->whole)
			memset(tasks[i]->whole, 0, tasks[i]->room * sizeof(*tasks[i]->whole));
	parts_used = 0;
}
