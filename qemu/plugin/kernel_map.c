// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the map of the guest's kernel, line by line. */

#include "count.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel_map map;

/* Adds a function; start addresses must ascend. */
static bool take_function(uint64_t address)
{
	uint32_t used = map.functions_used;

	if (used && map.functions[used - 1] >= address)
		return false;
	if (used == map.functions_room) {
		map.functions_room = used ? 2 * used : 65536;
		map.functions = grown(map.functions,
				      map.functions_room * sizeof(*map.functions));
	}
	map.functions[map.functions_used++] = address;
	return true;
}

/* Parses one line of the map. */
static bool take(const char *line)
{
	char word[16];
	uint64_t a, b;

	if (line[0] == '+' || line[0] == '-') {
		a = strtoull(line + 1, NULL, 16);
		if (line[0] == '-' && map.passing_used < PASSING)
			map.passing[map.passing_used++] = a;
		return take_function(a);
	}
	if (sscanf(line, "switch %" SCNx64, &map.switch_to) == 1 ||
	    sscanf(line, "pid %" SCNu64, &map.pid) == 1 ||
	    sscanf(line, "tgid %" SCNu64, &map.tgid) == 1 ||
	    sscanf(line, "comm %" SCNu64, &map.comm) == 1 ||
	    sscanf(line, "longest %" SCNu64, &map.longest) == 1)
		return true;
	if (!strncmp(line, "cache ", 6))
		return take_cache(line + 6);
	if (sscanf(line, "vectors %" SCNx64 " %" SCNx64, &a, &b) == 2) {
		map.vectors_from = a;
		map.vectors_to = b;
		return true;
	}
	if (sscanf(line, "probe %" SCNx64 " %7s", &a, word) == 2 &&
	    probes_used < PROBES) {
		probes[probes_used].address = a;
		memcpy(probes[probes_used++].argument, word, 8);
		return true;
	}
	if (sscanf(line, "entry %" SCNx64 " %" SCNu64, &a, &b) == 2 &&
	    map.entries_used < ENTRIES && b <= ENTRY_TRAP_WITH_CODE) {
		map.entries[map.entries_used] = a;
		map.kinds[map.entries_used++] = (enum entry)b;
		return true;
	}
	return false;
}

bool take_all(const char *path)
{
	char line[256];
	FILE *file = fopen(path, "r");
	bool good = file;

	while (good && fgets(line, sizeof(line), file)) {
		good = take(line);
		if (!good)
			fprintf(stderr, "assize count: %s: what is %s", path, line);
	}
	if (file)
		fclose(file);
	return good;
}
