// SPDX-License-Identifier: Apache-2.0
/*
 * Each series is remembered by its labels' serial: the sum of its deltas is the value it must show
 * once it has settled.
 */
#include "snapshot_check.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX CHECK_COLUMNS_MAX

struct seen {
	uint64_t serial, container; /* container: whose names it has */
	uint64_t total[COLUMNS_MAX];
	uint64_t born_ns, changed_ns; /* changed: last time what it shows could change */
	size_t level;
	int64_t created_ms;
	uint32_t pid;
	char command[LEDGER_COMM_MAX];
	bool settled, ended, retired, present;
};

struct snapshot_check {
	struct seen *series;
	size_t count, size;
	uint64_t adopted[LEVEL_COUNT][COLUMNS_MAX]; /* shown beyond the sum of deltas */
	uint64_t sequence, merged[LEVEL_COUNT];
};

struct snapshot_check *snapshot_check_new(void)
{
	struct snapshot_check *check = calloc(1, sizeof(*check));

	if (!check)
		abort();
	return check;
}

void snapshot_check_free(struct snapshot_check *check)
{
	free(check->series);
	free(check);
}

static struct seen *find(const struct snapshot_check *check, uint64_t serial)
{
	for (size_t i = 0; i < check->count; i++) {
		if (check->series[i].serial == serial)
			return &check->series[i];
	}
	return NULL;
}

static struct seen *add(struct snapshot_check *check)
{
	if (check->count == check->size) {
		check->size = check->size ? check->size * 2 : 64;
		check->series = reallocarray(check->series, check->size, sizeof(*check->series));
		if (!check->series)
			abort();
	}
	check->series[check->count] = (struct seen){ 0 };
	return &check->series[check->count++];
}

static uint64_t unattributed(const struct snapshot_zone *zone, size_t mode)
{
	uint64_t sum = 0;

	for (size_t reason = 0; reason < UNATTRIBUTED_REASON_COUNT; reason++)
		sum += zone->unattributed_uj[mode][reason];
	return sum;
}

static uint64_t sum_column(const uint64_t *values, size_t rows, size_t columns, size_t column)
{
	uint64_t sum = 0;

	for (size_t row = 0; row < rows; row++)
		sum += values[row * columns + column];
	return sum;
}

/* Σ rows + Σ retired + pending = what was used, which is the node's less what is unattributed. */
static const char *check_identities(const struct snapshot *snapshot, size_t level,
				    const struct snapshot_truth *truth)
{
	const struct snapshot_table *table = &snapshot->level[level];
	size_t columns = snapshot->columns;

	for (size_t column = 0; column < columns; column++) {
		const struct column *of = &snapshot->column[column].of;
		uint64_t shown =
			sum_column(table->values, table->count, columns, column) +
			sum_column(table->retired_values, table->retired_count, columns, column) +
			table->pending[column];

		if (shown != truth->used[level][column])
			return level_info[level].name;
		if (sum_column(table->deltas, table->count, columns, column) !=
		    truth->deltas[level][column])
			return "the deltas are not the interval's";
		if (level == LEVEL_POD || level == LEVEL_VM || column == COLUMN_CPU)
			continue;
		if (shown + unattributed(&snapshot->zones[of->account], of->mode) !=
		    snapshot->zones[of->account].node_uj[of->mode])
			return "energy is not conserved";
	}
	return NULL;
}

static bool same_labels(const struct series_labels *a, const struct series_labels *b, size_t level)
{
	if (level > LEVEL_CONTAINER)
		return a->names == b->names;
	return a->pid == b->pid && strcmp(a->command, b->command) == 0 &&
	       owner_names_agree(a->names, b->names, LABELS_CONTAINER);
}

static const char *check_unique(const struct snapshot_row *rows, size_t count, size_t level)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (same_labels(rows[i].labels, rows[j].labels, level))
				return "a series is there twice";
			if (rows[i].labels->slot == rows[j].labels->slot)
				return "two series share a slot";
		}
	}
	return NULL;
}

static bool has_container(const struct snapshot *snapshot, const struct owner_names *names)
{
	const struct snapshot_table *containers = &snapshot->level[LEVEL_CONTAINER];

	for (size_t i = 0; i < containers->count; i++) {
		if (containers->rows[i].labels->names == names)
			return true;
	}
	return false;
}

static size_t all_rows(const struct snapshot *snapshot)
{
	size_t rows = 0;

	for (size_t level = 0; level < LEVEL_COUNT; level++)
		rows += snapshot->level[level].count + snapshot->level[level].retired_count;
	return rows;
}

static const char *check_process_rows(const struct snapshot *snapshot,
				      const struct publisher_options *options)
{
	const struct snapshot_table *processes = &snapshot->level[LEVEL_PROCESS];
	size_t others = 0, own = 0;

	for (size_t i = 0; i < processes->count; i++) {
		const struct series_labels *labels = processes->rows[i].labels;

		if (!has_container(snapshot, labels->names))
			return "a process row without its container's names";
		if (labels->pid) {
			own++;
			continue;
		}
		if (strcmp(labels->command, "other") != 0)
			return "pid 0 is shown as a process";
		others++;
	}
	if (others != snapshot->level[LEVEL_CONTAINER].count)
		return "containers and their \"other\" series differ in number";
	if (own && all_rows(snapshot) > options->max_rows)
		return "processes have rows of their own where there are more rows than allowed";
	return NULL;
}

static struct seen *remember(struct snapshot_check *check, const struct snapshot *snapshot,
			     const struct snapshot_row *row, size_t level, bool retired)
{
	struct seen *seen = add(check);

	seen->serial = row->labels->serial;
	seen->container = (uintptr_t)row->labels->names;
	seen->pid = row->labels->pid;
	memcpy(seen->command, row->labels->command, sizeof(seen->command));
	seen->born_ns = snapshot->monotonic_ns;
	seen->created_ms = row->created_ms;
	seen->level = level;
	seen->retired = retired;
	seen->settled = snapshot->sequence == 1;
	return seen;
}

/*
 * A settled series shows the sum of its deltas, and what its owners used while they waited. False
 * when it shows less, or more than was carried over by all at this level.
 */
static bool is_full_value(struct snapshot_check *check, const struct snapshot_truth *truth,
			  const struct seen *seen, size_t column, uint64_t value)
{
	uint64_t *adopted = &check->adopted[seen->level][column];

	if (value < seen->total[column])
		return false;
	*adopted += value - seen->total[column];
	return *adopted <= truth->carried[seen->level][column];
}

static const char *check_series(struct snapshot_check *check, const struct snapshot *snapshot,
				size_t level, size_t row, const struct publisher_options *options,
				const struct snapshot_truth *truth)
{
	const struct snapshot_table *table = &snapshot->level[level];
	const struct snapshot_row *shown = &table->rows[row];
	const uint64_t *values = table->values + row * snapshot->columns;
	const uint64_t *deltas = table->deltas + row * snapshot->columns;
	struct seen *seen = find(check, shown->labels->serial);
	bool changed = shown->labels->pid && !shown->ended, was_settled;

	if (!seen)
		seen = remember(check, snapshot, shown, level, false);
	if (seen->created_ms != shown->created_ms)
		return "a series was born twice";
	was_settled = seen->settled;
	seen->settled |= snapshot->monotonic_ns - seen->born_ns >= options->settle_ns;
	for (size_t column = 0; column < snapshot->columns; column++) {
		uint64_t *total = &seen->total[column];

		*total += deltas[column];
		changed |= deltas[column] > 0;
		if (deltas[column] > UINT64_MAX / 2)
			return "a negative delta";
		if (!seen->settled && values[column] != 0)
			return "a series shows more than 0 before it settled";
		if (!seen->settled)
			continue;
		if (!is_full_value(check, truth, seen, column, values[column]))
			return "a series does not show its full value";
		changed |= values[column] != *total;
		*total = values[column];
	}
	if (changed || !was_settled)
		seen->changed_ns = snapshot->monotonic_ns;
	seen->ended = shown->ended;
	seen->present = true;
	return NULL;
}

static const char *check_retired(struct snapshot_check *check, const struct snapshot *snapshot,
				 size_t level, size_t row)
{
	const struct snapshot_table *table = &snapshot->level[level];
	const struct snapshot_row *shown = &table->retired[row];
	struct seen *seen = find(check, shown->labels->serial);

	if (!seen)
		seen = remember(check, snapshot, shown, level, true);
	if (seen->created_ms != shown->created_ms)
		return "a retired series was born twice";
	for (size_t column = 0; column < snapshot->columns; column++) {
		uint64_t value = table->retired_values[row * snapshot->columns + column];
		uint64_t *total = &seen->total[column];

		if (value < *total)
			return "a retired series fell";
		*total = value;
	}
	seen->present = true;
	return NULL;
}

/* A process row with the labels that @gone had, and born now. */
static bool is_replaced(const struct snapshot_check *check, const struct snapshot *snapshot,
			const struct seen *gone)
{
	for (size_t i = 0; i < check->count; i++) {
		const struct seen *new = &check->series[i];

		if (new->present &&new->born_ns == snapshot->monotonic_ns &&new->pid ==
			    gone->pid &&new->container == gone->container &&
		    strcmp(new->command, gone->command) == 0)
			return true;
	}
	return false;
}

static const char *check_gone(const struct snapshot_check *check, const struct snapshot *snapshot,
			      const struct seen *gone, const struct publisher_options *options)
{
	uint64_t kept_ns = snapshot->monotonic_ns - gone->changed_ns;
	bool merged = snapshot->level[gone->level].merged > check->merged[gone->level];
	bool container_merged =
		snapshot->level[LEVEL_CONTAINER].merged > check->merged[LEVEL_CONTAINER];

	if (gone->level == LEVEL_PROCESS && container_merged)
		return NULL; /* whole containers go together */
	if (gone->retired || (gone->level <= LEVEL_CONTAINER && merged))
		return NULL;
	if (gone->pid && !gone->ended)
		return "a living process lost its series";
	if (kept_ns >= options->keep_ns || (merged && kept_ns >= options->settle_ns))
		return NULL;
	if (gone->pid && is_replaced(check, snapshot, gone) && kept_ns >= options->settle_ns)
		return NULL;
	return "a series went before its time";
}

static const char *check_all_series(struct snapshot_check *check, const struct snapshot *snapshot,
				    const struct publisher_options *options,
				    const struct snapshot_truth *truth)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < check->count; i++)
		check->series[i].present = false;
	for (size_t level = 0; level < LEVEL_COUNT && !wrong; level++) {
		const struct snapshot_table *table = &snapshot->level[level];

		for (size_t row = 0; row < table->count && !wrong; row++)
			wrong = check_series(check, snapshot, level, row, options, truth);
		for (size_t row = 0; row < table->retired_count && !wrong; row++)
			wrong = check_retired(check, snapshot, level, row);
	}
	for (size_t i = 0; i < check->count && !wrong; i++) {
		if (!check->series[i].present)
			wrong = check_gone(check, snapshot, &check->series[i], options);
	}
	for (size_t i = 0; i < check->count;) {
		if (check->series[i].present)
			i++;
		else
			check->series[i] = check->series[--check->count];
	}
	return wrong;
}

const char *snapshot_check_next(struct snapshot_check *check, const struct snapshot *snapshot,
				const struct publisher_options *options,
				const struct snapshot_truth *truth)
{
	const char *wrong = NULL;

	if (snapshot->sequence != check->sequence + 1)
		return "a snapshot is missing";
	for (size_t level = 0; level < LEVEL_COUNT && !wrong; level++) {
		const struct snapshot_table *table = &snapshot->level[level];

		wrong = check_identities(snapshot, level, truth);
		if (!wrong)
			wrong = check_unique(table->rows, table->count, level);
		if (!wrong)
			wrong = check_unique(table->retired, table->retired_count, level);
	}
	if (!wrong)
		wrong = check_process_rows(snapshot, options);
	if (!wrong)
		wrong = check_all_series(check, snapshot, options, truth);
	for (size_t level = 0; level < LEVEL_COUNT; level++)
		check->merged[level] = snapshot->level[level].merged;
	check->sequence = snapshot->sequence;
	return wrong;
}

static uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i++)
		digest = (digest ^ at[i]) * 0x100000001b3ULL; /* FNV-1a */
	return digest;
}

static uint64_t digest_rows(uint64_t digest, const struct snapshot_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct series_labels *labels = rows[i].labels;
		const struct owner_names *names = labels->names;

		digest = digest_bytes(digest, &labels->serial, sizeof(labels->serial));
		digest = digest_bytes(digest, &labels->pid, sizeof(labels->pid));
		digest = digest_bytes(digest, labels->command, strlen(labels->command));
		for (size_t key = 0; key < LABEL_KEY_COUNT; key++)
			digest = digest_bytes(digest, names->text[key], strlen(names->text[key]));
		for (size_t extra = 0; extra < names->extra_count; extra++)
			digest = digest_bytes(digest, names->extra[extra].value,
					      strlen(names->extra[extra].value));
	}
	return digest;
}

uint64_t snapshot_digest(const struct snapshot *snapshot)
{
	uint64_t digest = digest_bytes(0xcbf29ce484222325ULL, &snapshot->sequence, 8);

	for (size_t level = 0; level < LEVEL_COUNT; level++) {
		const struct snapshot_table *table = &snapshot->level[level];
		size_t line = snapshot->columns * sizeof(uint64_t);

		digest = digest_rows(digest, table->rows, table->count);
		digest = digest_rows(digest, table->retired, table->retired_count);
		digest = digest_bytes(digest, table->values, table->count * line);
		digest = digest_bytes(digest, table->deltas, table->count * line);
		digest = digest_bytes(digest, table->retired_values, table->retired_count * line);
	}
	return digest;
}
