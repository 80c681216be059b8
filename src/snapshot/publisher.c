// SPDX-License-Identifier: Apache-2.0
/*
 * One interval of the publisher, in the order that keeps its promises: what went quiet leaves first
 * and makes room, then newcomers get their series, then the interval is booked (so that a newcomer
 * has the interval of its admission, and a folded one has not), then the picture is taken. Only
 * containers for which there is no room any more go after that, and are not in the next one.
 *
 * Memory is reserved before anything changes. Where it runs out the old snapshot stays, and the
 * next interval looks at all rows instead of the touched ones.
 */
#include "snapshot/publisher.h"

#include <errno.h>

#include "base/macro.h"
#include "snapshot/publisher_parts.h"

int publisher_new(const struct publisher_options *options, struct ledger *ledger,
		  struct snapshot_holder *holder, struct publisher **ret)
{
	struct publisher *publisher = calloc(1, sizeof(*publisher));
	uint32_t columns = ledger_columns(ledger);

	if (!publisher)
		return -ENOMEM;
	publisher->options = *options;
	publisher->ledger = ledger;
	publisher->holder = holder;
	publisher->labels = snapshot_holder_labels(holder);
	publisher->columns = columns;
	value_table_init(&publisher->processes.values, columns);
	row_index_init(&publisher->processes.by_pid, UINT32_MAX);
	value_table_init(&publisher->containers.elsewhere, columns);
	value_table_init(&publisher->containers.retired, columns);
	if (namespaces_init(publisher) < 0) {
		publisher_free(publisher);
		return -ENOMEM;
	}
	*ret = publisher;
	return 0;
}

void publisher_free(struct publisher *publisher)
{
	if (!publisher)
		return;
	processes_release(&publisher->processes);
	containers_release(&publisher->containers);
	groups_release(publisher);
	namespaces_release(&publisher->namespaces);
	free(publisher);
}

void publisher_set_options(struct publisher *publisher, const struct publisher_options *options)
{
	bool other_zones = options->first_zone != publisher->options.first_zone;

	publisher->options = *options;
	if (other_zones)
		processes_start_over(publisher);
}

uint64_t usage_uj(const struct publisher *publisher, const uint64_t *values)
{
	uint32_t column = publisher->options.first_zone * MODE_COUNT;
	uint64_t most = 0;

	for (; column + MODE_COUNT <= publisher->columns; column += MODE_COUNT) {
		uint64_t used = values[column + MODE_DYNAMIC] + values[column + MODE_IDLE];

		most = used > most ? used : most;
	}
	return most;
}

static struct publisher_view look_at_process(const struct publisher *publisher, uint32_t row)
{
	const struct process_view *view = &publisher->processes;
	const uint64_t *values = ledger_values(publisher->ledger, LEVEL_PROCESS, row);

	if (row < view->slots && view->series_of[row] != NO_SERIES)
		return (struct publisher_view){ true, view->series[view->series_of[row]].labels,
						0 };
	return (struct publisher_view){ true, NULL,
					usage_uj(publisher, values) -
						(row < view->slots ? view->baseline_uj[row] : 0) };
}

struct publisher_view publisher_look(const struct publisher *publisher, enum level level,
				     uint32_t row, uint64_t serial)
{
	const struct container_view *containers = &publisher->containers;
	const struct group_view *groups = &publisher->groups[level];
	const struct level_row *found = level_table_at(ledger_level(publisher->ledger, level), row);
	struct publisher_view view = { .is_there = found->used && found->serial == serial };

	if (!view.is_there)
		return view;
	if (level == LEVEL_PROCESS)
		return look_at_process(publisher, row);
	if (level == LEVEL_CONTAINER && row < containers->slots &&
	    containers->series[row].published)
		view.labels = containers->series[row].labels;
	else if (level >= LEVEL_POD && row < groups->slots && groups->series[row].published)
		view.labels = groups->series[row].labels;
	return view;
}

struct series_age age_of_birth(const struct moment *at)
{
	return (struct series_age){ .created_ms = at->realtime_ms,
				    .since_ns = at->now_ns,
				    .settled = at->first };
}

void age_settle(struct series_age *age, const struct publisher *publisher, const struct moment *at)
{
	/* It is seen with 0 from its first snapshot on. */
	if (!age->settled && publisher->hidden_ns && age->since_ns >= publisher->hidden_ns)
		age->since_ns = at->now_ns;
	if (!age->settled && has_passed(age->since_ns, at->now_ns, publisher->options.settle_ns)) {
		age->settled = true;
		age->since_ns = at->now_ns;
	}
}

static bool has_been(const struct series_age *age, uint64_t last_ns, uint64_t now_ns,
		     uint64_t span_ns)
{
	return age->settled && has_passed(last_ns, now_ns, span_ns) &&
	       has_passed(age->since_ns, now_ns, span_ns);
}

bool was_kept(const struct publisher *publisher, uint64_t last_ns, const struct series_age *age,
	      const struct moment *at, bool crowded, uint64_t *early)
{
	const struct publisher_options *options = &publisher->options;

	if (has_been(age, last_ns, at->now_ns, options->keep_ns))
		return true;
	if (!crowded || !has_been(age, last_ns, at->now_ns, options->settle_ns))
		return false;
	++*early;
	return true;
}

/* The newest snapshot is the last that can name them: the one in the making will not. */
void drop_labels(struct publisher *publisher, struct series_labels *labels)
{
	label_pool_drop(publisher->labels, labels, snapshot_holder_newest(publisher->holder));
}

static int follow_columns(struct publisher *publisher)
{
	struct container_view *containers = &publisher->containers;
	struct namespace_view *namespaces = &publisher->namespaces;
	uint32_t columns = ledger_columns(publisher->ledger);
	struct value_table_use uses[3 + LEVEL_COUNT] = {
		{ &publisher->processes.values, publisher->processes.count },
		{ &containers->elsewhere, containers->slots },
		{ &containers->retired, containers->slots },
	};
	int r;

	if (columns == publisher->columns)
		return 0;
	for (size_t level = 0; level < LEVEL_COUNT; level++)
		uses[3 + level] =
			(struct value_table_use){ &namespaces->retired[level], namespaces->count };
	r = value_tables_widen(uses, ARRAY_SIZE(uses), columns);
	if (r == 0)
		publisher->columns = columns;
	return r;
}

static int reserve(struct publisher *publisher)
{
	int r = follow_columns(publisher);

	if (r == 0)
		r = processes_reserve(publisher);
	if (r == 0)
		r = containers_reserve(publisher);
	if (r == 0)
		r = groups_reserve(publisher);
	return r;
}

int publisher_publish(struct publisher *publisher, uint64_t now_ns, int64_t realtime_ms,
		      const struct snapshot_zone *zones, const struct snapshot_self *self)
{
	const struct moment at = { now_ns, realtime_ms, !publisher->published };
	int r;

	ledger_close(publisher->ledger);
	r = reserve(publisher);
	if (r < 0) {
		publisher->missed = true;
		return r;
	}
	label_pool_collect(publisher->labels, snapshot_holder_oldest(publisher->holder));
	r = containers_admit(publisher, &at);
	if (r == 0)
		r = groups_admit(publisher, &at);
	processes_expire(publisher, &at);
	processes_admit(publisher, &at);
	processes_apply(publisher, &at);
	publisher->missed = false;
	processes_forget(publisher, &at);
	containers_expire(publisher, &at);
	groups_expire(publisher, &at);
	if (r == 0)
		r = snapshot_build(publisher, &at, zones, self);
	if (r < 0 && !publisher->hidden_ns)
		publisher->hidden_ns = now_ns;
	if (r < 0)
		return r;
	publisher->published = true;
	publisher->hidden_ns = 0;
	containers_fold(publisher, &at); /* what they were given in this interval is shown */
	return 0;
}
