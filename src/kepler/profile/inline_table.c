// SPDX-License-Identifier: Apache-2.0
/*
 * libdw finds the unit of an address in a table that not every compiler writes (.debug_aranges).
 * Where it does not, the units of the file and their ranges are listed, once. The information can
 * have hundreds of megabytes, and a profile needs a few pages, so it is mapped. If the file is cut
 * meanwhile, the process that reads names ends, and another one goes on (name_reader.h).
 *
 * The lookup of an address can take long in a unit of a whole program, so a file has a budget of
 * time for all of them. Without it, functions are shown as parts of their callers.
 */
#include "kepler/profile/inline_table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "kepler/profile/demangle.h"
#include "kepler/profile/libdw.h"

#define FILE_MAX   (INT64_C(2) << 30)
#define RANGES_MAX 1000000U
#define BUDGET_NS  (1500 * NSEC_PER_MSEC) /* of a file; below the deadline of a question */
/* DWARF 5, section 7.5. */
#define TAG_SUBPROGRAM         0x2e
#define TAG_INLINED            0x1d
#define ATTRIBUTE_LINKAGE_NAME 0x6e
#define COMMAND_READ           0

struct unit_range {
	uint64_t start, end;
	uint64_t unit; /* the offset of its first entry */
};

struct inline_table {
	struct libdw_file file;
	Dwarf *dwarf;
	struct unit_range *ranges; /* [range_count], by start */
	size_t range_count, range_size;
	bool is_listed;
	uint64_t spent_ns;
};

static int add_ranges(struct inline_table *table, uint64_t unit)
{
	uint64_t base, start, end;
	ptrdiff_t offset = 0;
	Dwarf_Die die;

	if (!table->file.dw->dwarf_offdie(table->dwarf, unit, &die))
		return 0;
	while ((offset = table->file.dw->dwarf_ranges(&die, offset, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		if (table->range_count >= RANGES_MAX ||
		    ARRAY_RESERVE(table->ranges, table->range_size, table->range_count + 1) < 0)
			return -ENOMEM;
		table->ranges[table->range_count++] = (struct unit_range){ start, end, unit };
	}
	return 0;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct unit_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void list_units(struct inline_table *table)
{
	uint64_t from_ns = clock_ns(CLOCK_MONOTONIC), offset = 0, next;
	size_t header;
	int r = 0;

	while (r == 0 && table->file.dw->dwarf_nextcu(table->dwarf, offset, &next, &header, NULL,
						      NULL, NULL) == 0) {
		r = add_ranges(table, offset + header);
		offset = next;
		if (clock_ns(CLOCK_MONOTONIC) - from_ns > BUDGET_NS)
			r = -ENOENT;
	}
	if (table->range_count)
		qsort(table->ranges, table->range_count, sizeof(*table->ranges), compare_ranges);
}

static bool read_table(void *userdata, int fd)
{
	struct inline_table *table = userdata;
	struct stat status;

	if (fstat(fd, &status) < 0 || status.st_size > FILE_MAX)
		return false;
	table->dwarf = table->file.dw->dwarf_begin_elf(table->file.elf, COMMAND_READ, NULL);
	return table->dwarf;
}

int inline_table_open(int fd, struct inline_table **ret)
{
	struct inline_table *table = calloc(1, sizeof(*table));
	int r = libdw_file_open(fd, ELF_C_READ_MMAP, read_table, table,
				table ? &table->file : NULL);

	if (r < 0)
		inline_table_close(table);
	else
		*ret = table;
	return r;
}

void inline_table_close(struct inline_table *table)
{
	if (!table)
		return;
	if (table->dwarf)
		(void)table->file.dw->dwarf_end(table->dwarf);
	libdw_file_close(&table->file);
	free(table->ranges);
	free(table);
}

/* Ranges of units do not overlap: the last one that starts before the address. */
static const struct unit_range *find_range(const struct inline_table *table, uint64_t address)
{
	size_t low = 0, high = table->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < table->ranges[low - 1].end ? &table->ranges[low - 1] : NULL;
}

static bool find_unit(struct inline_table *table, uint64_t address, Dwarf_Die *ret)
{
	const struct unit_range *range;

	if (table->file.dw->dwarf_addrdie(table->dwarf, address, ret))
		return true;
	if (!table->is_listed)
		list_units(table);
	table->is_listed = true;
	range = find_range(table, address);
	return range && table->file.dw->dwarf_offdie(table->dwarf, range->unit, ret);
}

/*
 * The entries around the address, the innermost first; the caller frees them. dwarf_getscopes()
 * alone would go on with the scopes in which an inlined function was written.
 */
static int find_scopes(struct inline_table *table, uint64_t address, Dwarf_Die **ret)
{
	Dwarf_Die die, *scopes = NULL;
	int count;

	if (!find_unit(table, address, &die))
		return 0;
	count = table->file.dw->dwarf_getscopes(&die, address, &scopes);
	if (count <= 0) {
		free(scopes);
		return 0;
	}
	die = scopes[0];
	free(scopes);
	*ret = NULL;
	return table->file.dw->dwarf_getscopes_die(&die, ret);
}

/* As a table of symbols has it, so that both are the same function. */
static const char *name_of(const struct inline_table *table, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (table->file.dw->dwarf_attr_integrate(die, ATTRIBUTE_LINKAGE_NAME, &attribute))
		name = table->file.dw->dwarf_formstring(&attribute);
	return name ? name : table->file.dw->dwarf_diename(die);
}

static size_t find_names(struct inline_table *table, uint64_t address,
			 char ret[static INLINED_MAX][PROGRAM_NAME_MAX])
{
	CLEANUP_FREE Dwarf_Die *scopes = NULL;
	int count = find_scopes(table, address, &scopes), outermost = 0;
	size_t found = 0;

	while (outermost < count && table->file.dw->dwarf_tag(&scopes[outermost]) != TAG_SUBPROGRAM)
		outermost++;
	for (int i = outermost; i-- > 0 && found < INLINED_MAX;) {
		const char *name = table->file.dw->dwarf_tag(&scopes[i]) == TAG_INLINED
					   ? name_of(table, &scopes[i])
					   : NULL;

		if (name && name[0])
			demangle(name, ret[found++], PROGRAM_NAME_MAX);
	}
	return found;
}

size_t inline_table_find(struct inline_table *table, uint64_t address,
			 char ret[static INLINED_MAX][PROGRAM_NAME_MAX])
{
	uint64_t from_ns = clock_ns(CLOCK_MONOTONIC);
	size_t found = 0;

	if (table->spent_ns < BUDGET_NS)
		found = find_names(table, address, ret);
	table->spent_ns += clock_ns(CLOCK_MONOTONIC) - from_ns;
	return found;
}
