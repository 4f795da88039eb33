// SPDX-License-Identifier: GPL-2.0-or-later
/* What the plugin is told, line by line. */

#include "count.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct told told;

/* A function begins here, behind all those before. */
static bool take_function(uint64_t address)
{
	uint32_t used = told.functions_used;

	if (used && told.functions[used - 1] >= address)
		return false;
	if (used == told.functions_room) {
		told.functions_room = used ? 2 * used : 65536;
		told.functions = grown(told.functions,
				       told.functions_room * sizeof(*told.functions));
	}
	told.functions[told.functions_used++] = address;
	return true;
}

/* One line of what the plugin is told. */
static bool take(const char *line)
{
	char word[16];
	uint64_t a, b;

	if (line[0] == '+' || line[0] == '-') {
		a = strtoull(line + 1, NULL, 16);
		if (line[0] == '-' && told.passing_used < PASSING)
			told.passing[told.passing_used++] = a;
		return take_function(a);
	}
	if (sscanf(line, "switch %" SCNx64, &told.switch_to) == 1 ||
	    sscanf(line, "pid %" SCNu64, &told.pid) == 1 ||
	    sscanf(line, "tgid %" SCNu64, &told.tgid) == 1 ||
	    sscanf(line, "comm %" SCNu64, &told.comm) == 1 ||
	    sscanf(line, "longest %" SCNu64, &told.longest) == 1)
		return true;
	if (!strncmp(line, "cache ", 6))
		return take_cache(line + 6);
	if (sscanf(line, "vectors %" SCNx64 " %" SCNx64, &a, &b) == 2) {
		told.vectors_from = a;
		told.vectors_to = b;
		return true;
	}
	if (sscanf(line, "probe %" SCNx64 " %7s", &a, word) == 2 &&
	    probes_used < PROBES) {
		probes[probes_used].address = a;
		memcpy(probes[probes_used++].argument, word, 8);
		return true;
	}
	if (sscanf(line, "entry %" SCNx64 " %" SCNu64, &a, &b) == 2 &&
	    told.entries_used < ENTRIES && b <= ENTRY_TRAP_WITH_CODE) {
		told.entries[told.entries_used] = a;
		told.kinds[told.entries_used++] = (enum entry)b;
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
