// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches a placement policy and keeps it attached until this process is killed.
 *
 *	attach OBJECT [NAME=VALUE]...
 *
 * VALUE is an integer for the const volatile u64 of that name. Each setting is
 * printed as "set NAME VALUE", read back from the map that the kernel
 * has frozen; then, once the policy is active, "attached". The kernel detaches it
 * when this process ends for any reason. Errors go to standard
 * error, including the verifier's messages, and the status is 1; 2 is wrong use.
 *
 * Needs libbpf 1.1 or later. Before 1.2 it neither knows the section
 * .struct_ops.link nor creates links to such operations, so both is done here.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#if LIBBPF_MAJOR_VERSION == 1 && LIBBPF_MINOR_VERSION < 2
#define OWN_LINKS	1
#else
#define OWN_LINKS	0
#endif

/* From the user interface; older headers lack them. */
#define STRUCT_OPS_LINK		44	/* BPF_STRUCT_OPS of enum bpf_attach_type */
#define LINKED_MAP		(1U << 13)	/* BPF_F_LINK */

static const char linked[] = ".struct_ops.link";
static const char plain[] = ".struct_ops";

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	return 1;
}

static int print(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, arguments) : 0;
}

/* The bytes of a file, or NULL. */
static char *contents(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *bytes = NULL;
	long end = -1;

	if (!file)
		return NULL;
	if (!fseek(file, 0, SEEK_END))
		end = ftell(file);
	rewind(file);
	if (end >= 0)
		bytes = malloc(end + 1);
	if (bytes && fread(bytes, 1, end, file) != (size_t)end) {
		free(bytes);
		bytes = NULL;
	}
	fclose(file);
	*size = bytes ? end : 0;
	return bytes;
}

/*
 * Renames the section to the name that libbpf before 1.2 knows, in the section
 * table and in the type information. Both are NUL-terminated strings, so the
 * shorter name fits in place of the longer.
 */
static void rename_section(char *bytes, size_t size)
{
	char *end = bytes + size;

	for (;;) {
		bytes = memmem(bytes, end - bytes, linked, sizeof(linked));
		if (!bytes)
			return;
		bytes[sizeof(plain) - 1] = '\0';
		bytes += sizeof(plain);
	}
}

/* Returns the offset of a variable in the map of constants, or -1. */
static long offset_of(const struct btf *btf, const char *name)
{
	const struct btf_var_secinfo *variable;
	const struct btf_type *section;
	int id, at;

	id = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);
	if (id < 0)
		return -1;
	section = btf__type_by_id(btf, id);
	variable = btf_var_secinfos(section);
	for (at = 0; at < btf_vlen(section); at++, variable++) {
		const struct btf_type *type = btf__type_by_id(btf, variable->type);

		if (!strcmp(btf__name_by_offset(btf, type->name_off), name))
			return variable->size == sizeof(uint64_t) ? (long)variable->offset : -1;
	}
	return -1;
}

static struct bpf_map *constants(struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) {
		const char *name = bpf_map__name(map);
		size_t length = strlen(name);

		/* libbpf prefixes it with the start of the object's name. */
		if (length >= 7 && !strcmp(name + length - 7, ".rodata"))
			return map;
	}
	return NULL;
}

/* Sets one NAME=VALUE before the object is loaded. */
static int set(struct bpf_object *object, char *setting)
{
	struct bpf_map *map = constants(object);
	char *equals = strchr(setting, '='), *rest;
	size_t size = 0;
	uint64_t value;
	char *bytes;
	long offset;

	if (!equals)
		return fail(setting, "is not NAME=VALUE");
	*equals = '\0';
	errno = 0;
	value = strtoull(equals + 1, &rest, 10);
	if (errno || *rest || rest == equals + 1)
		return fail(setting, "its value is no whole number");
	offset = offset_of(bpf_object__btf(object), setting);
	bytes = map ? (char *)bpf_map__initial_value(map, &size) : NULL;
	if (offset < 0 || !bytes || offset + sizeof(value) > size)
		return fail(setting, "the policy has no const volatile u64 of this name");
	memcpy(bytes + offset, &value, sizeof(value));
	return 0;
}

/* Prints the kernel's value of a setting. */
static int show(struct bpf_object *object, const char *name)
{
	struct bpf_map *map = constants(object);
	long offset = offset_of(bpf_object__btf(object), name);
	char *bytes = malloc(bpf_map__value_size(map));
	uint32_t zero = 0;
	uint64_t value;

	if (!bytes || bpf_map_lookup_elem(bpf_map__fd(map), &zero, bytes)) {
		free(bytes);
		return fail(name, strerror(errno));
	}
	memcpy(&value, bytes + offset, sizeof(value));
	free(bytes);
	printf("set %s %llu\n", name, (unsigned long long)value);
	return 0;
}

static struct bpf_map *operations(struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) {
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			return map;
	}
	return NULL;
}

/* Creates a link for operations registered as a map, as libbpf 1.2 does. */
static int link_map(const struct bpf_map *map)
{
	/* The fields of union bpf_attr for BPF_LINK_CREATE. */
	struct {
		uint32_t map_fd;
		uint32_t target_fd;
		uint32_t attach_type;
		uint32_t flags;
		uint64_t rest[4];
	} attributes = { .map_fd = bpf_map__fd(map), .attach_type = STRUCT_OPS_LINK };

	return syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, sizeof(attributes));
}

/* The link exists as long as this process, unless the kernel detaches it. */
static int attach(const struct bpf_map *map)
{
	if (!bpf_map__attach_struct_ops(map))
		return fail("attach", strerror(errno));
	if (OWN_LINKS && link_map(map) < 0)
		return fail("attach", strerror(errno));
	return 0;
}

static struct bpf_object *opened(const char *path)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "policy");
	struct bpf_object *object;
	size_t size;
	char *bytes = contents(path, &size);

	if (!bytes) {
		fail(path, strerror(errno));
		return NULL;
	}
	if (OWN_LINKS)
		rename_section(bytes, size);
	object = bpf_object__open_mem(bytes, size, &options);
	if (!object)
		fail(path, "is no BPF object that can be opened");
	return object;
}

int main(int count, char **arguments)
{
	struct bpf_object *object;
	struct bpf_map *map;
	int at;

	if (count < 2) {
		fprintf(stderr, "usage: %s OBJECT [NAME=VALUE]...\n", arguments[0]);
		return 2;
	}
	libbpf_set_print(print);
	object = opened(arguments[1]);
	if (!object)
		return 1;
	map = operations(object);
	if (!map)
		return fail(arguments[1], "has no operations in a section .struct_ops.link");
	if (OWN_LINKS)
		bpf_map__set_map_flags(map, LINKED_MAP);
	for (at = 2; at < count; at++) {
		if (set(object, arguments[at]))
			return 2;
	}
	if (bpf_object__load(object))
		return fail(arguments[1], "the kernel does not load it");
	for (at = 2; at < count; at++) {
		if (show(object, arguments[at]))
			return 1;
	}
	if (attach(map))
		return 1;
	printf("attached\n");
	fflush(stdout);
	for (;;)
		pause();
}
