// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the machine's registers and memory. */

#include "count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct registers registers;
static struct garray *bytes;

void *grown(void *memory, size_t size)
{
	void *more = realloc(memory, size);

	if (!more) {
		fprintf(stderr, "assize count: no memory\n");
		abort();
	}
	return more;
}

uint64_t read_register(struct qemu_plugin_register *handle)
{
	uint64_t value = 0;

	g_byte_array_set_size(bytes, 0);
	if (!handle || qemu_plugin_read_register(handle, bytes) <= 0)
		return 0;
	memcpy(&value, bytes->data, bytes->length < 8 ? bytes->length : 8);
	return value;
}

bool read_memory(uint64_t address, void *to, size_t length)
{
	g_byte_array_set_size(bytes, 0);
	if (!qemu_plugin_read_memory_vaddr(address, bytes, length))
		return false;
	memcpy(to, bytes->data, length);
	return true;
}

/* Copies memory of the machine into a new file. */
bool copy_memory(uint64_t from, uint64_t length, const char *path)
{
	uint64_t left = length;
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	while (left) {
		size_t some = left < 65536 ? left : 65536;

		g_byte_array_set_size(bytes, 0);
		if (!qemu_plugin_read_memory_vaddr(from, bytes, some))
			break;
		if (fwrite(bytes->data, 1, some, file) != some)
			break;
		from += some;
		left -= some;
	}
	if (!fclose(file) && !left)
		return true;
	remove(path);
	return false;
}

/* Finds the registers of the first CPU, which all have. */
void find_registers(void)
{
	struct {
		const char *name;
		struct qemu_plugin_register **to;
	} wanted[] = {
		{ "rax", &registers.rax },
		{ "rdx", &registers.rdx },
		{ "rsi", &registers.rsi },
		{ "rdi", &registers.rdi },
		{ "rsp", &registers.rsp },
		{ "gs_base", &registers.gs_base },
		{ "k_gs_base", &registers.kernel_gs_base },
	};
	struct garray *all;

	if (registers.rax)
		return;
	bytes = g_byte_array_new();
	all = qemu_plugin_get_registers();
	for (unsigned int i = 0; i < all->length; i++) {
		struct register_name *one = (struct register_name *)all->data + i;

		for (size_t j = 0; j < sizeof(wanted) / sizeof(*wanted); j++)
			if (!strcmp(one->name, wanted[j].name))
				*wanted[j].to = one->handle;
		for (int j = 0; j < probes_used; j++)
			if (!strcmp(one->name, probes[j].argument))
				probes[j].handle = one->handle;
	}
}
