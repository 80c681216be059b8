/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries that this room has made in the directory: the containers that were seen, by which
 * source, and whether the file that names them has changed since. So a scan costs one look-up for a
 * known container, and the directory is only updated for new, changed and removed ones.
 *
 * A scan is name_table_begin(), for each runtime in the order of precedence keep or put of each
 * container, then name_table_end(). The first runtime that knows a container in a scan names it.
 * Bounded: containers beyond the limit are refused and counted by the caller.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "workload/name_directory.h"

struct name_table {
	struct directory *directory; /* borrowed */
	struct map by_id;
	struct name_row *rows;
	uint32_t count, size;
	uint32_t scan;    /* number of the current one */
	uint64_t changes; /* puts so far that were new or different */
};

void name_table_init(struct name_table *table, struct directory *directory, uint32_t limit);
void name_table_release(struct name_table *table);

void name_table_begin(struct name_table *table);
/*
 * True: nothing has to be read, because @provider named container @id before from a file with this
 * stamp, or another provider did in this scan.
 */
bool name_table_keep(struct name_table *table, unsigned provider, const char *id, uint64_t stamp);
/* 0, -ENOSPC (here or in the directory), -ENOMEM; then it is tried again in the next scan. */
int name_table_put(struct name_table *table, unsigned provider, uint64_t stamp,
		   const struct container_names *names);
/* Keeps all containers that @provider named before, because it could not be read. */
void name_table_keep_all(struct name_table *table, unsigned provider);
/* Returns true if @provider names any container in this scan. */
bool name_table_has(const struct name_table *table, unsigned provider);
/* Withdraws containers that were neither kept nor put. */
void name_table_end(struct name_table *table, uint64_t now_ns);
