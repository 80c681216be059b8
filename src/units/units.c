// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's thread and the units' thread hand the reader to each other: from the request of a
 * round to its end it belongs to the units' thread, and else to the engine's. So nothing of it is
 * copied.
 */
#include "units/units.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/thread.h"
#include "units/unit_reader.h"

#define PATIENCE_NS  (1 * NSEC_PER_SEC) /* of the end */
#define LOOK_NS      (50 * NSEC_PER_MSEC)
#define NO_TARGET_NS (1 * NSEC_PER_SEC) /* to the next round, while there is nothing to read */

enum round_state { ROUND_NONE, ROUND_ASKED, ROUND_OVER };

struct units {
	struct unit_reader reader;
	/* The engine's thread alone uses these; @late_ns: a round should have been over by then. */
	uint64_t refresh_ns, due_ns, late_ns;
	bool has_failed[UNITS_MAX]; /* that has been logged; of the units' thread */
	void (*start_thread)(void);
	pthread_t thread;
	bool has_thread;
	int cancel_fd, asked_fd;
	pthread_mutex_t lock; /* for what follows */
	enum round_state state;
	struct units_health health;
};

struct pod_addresses *units_addresses(const struct units *units)
{
	return units->reader.addresses;
}

void units_name(const struct units *units, struct unit_accounts *accounts)
{
	for (uint32_t i = 0; i < units->reader.rule_count; i++)
		memcpy(accounts->names[i], units->reader.rules[i].name, sizeof(accounts->names[i]));
}

void units_get_health(struct units *units, struct units_health *ret)
{
	(void)pthread_mutex_lock(&units->lock);
	*ret = units->health;
	(void)pthread_mutex_unlock(&units->lock);
}

/* ---- the thread ---- */

static void tell(struct units *units, uint32_t unit)
{
	const struct unit_health *round = &units->reader.round[unit];
	bool has_failed = round->error[0];

	if (has_failed && !units->has_failed[unit])
		log_warn("units of work: %s cannot be counted, and has no series there: %s",
			 units->reader.rules[unit].name, round->error);
	else if (!has_failed && units->has_failed[unit] && round->reads)
		log_info("units of work: %s is counted again", units->reader.rules[unit].name);
	if (has_failed || round->reads)
		units->has_failed[unit] = has_failed;
}

static void end_round(struct units *units)
{
	const struct unit_reader *reader = &units->reader;

	for (uint32_t i = 0; i < reader->rule_count; i++)
		tell(units, i);
	(void)pthread_mutex_lock(&units->lock);
	for (uint32_t i = 0; i < reader->rule_count; i++) {
		struct unit_health *health = &units->health.units[i];

		health->pods = reader->round[i].pods;
		health->reads += reader->round[i].reads;
		health->failures += reader->round[i].failures;
		if (reader->round[i].reads)
			memcpy(health->error, reader->round[i].error, sizeof(health->error));
	}
	units->health.beyond = reader->pods_beyond + reader->targets.beyond;
	units->health.has_read = true;
	units->state = ROUND_OVER;
	(void)pthread_mutex_unlock(&units->lock);
}

static void *run(void *userdata)
{
	struct units *units = userdata;
	struct pollfd fds[2] = { { .fd = units->cancel_fd, .events = POLLIN },
				 { .fd = units->asked_fd, .events = POLLIN } };
	eventfd_t asked;

	if (units->start_thread)
		units->start_thread();
	for (;;) {
		(void)poll(fds, 2, -1);
		if (fds[0].revents)
			return NULL;
		if (eventfd_read(units->asked_fd, &asked) < 0)
			continue;
		if (unit_reader_round(&units->reader) == -ECANCELED)
			return NULL;
		end_round(units);
	}
}

/* ---- the engine's thread ---- */

static void book(const struct unit_reader *reader, struct unit_accounts *accounts,
		 const struct ledger *ledger, int64_t boottime_ms)
{
	for (size_t i = 0; i < reader->targets.count; i++) {
		const struct unit_target *target = &reader->targets.targets[i];
		const struct unit_reading reading = {
			.unit = target->unit,
			.is_first = target->is_first,
			.increase_micro = target->increase_micro,
			.pod_id = target->pod_id,
			.namespace_ = target->namespace_,
			.pod = target->name,
		};

		if (target->is_read)
			unit_accounts_read(accounts, ledger, &reading, boottime_ms);
	}
	unit_accounts_end(accounts);
}

static int compare_hashes(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* The pods of the node; without memory, none is known in this round. */
static void list_pods(struct unit_pods *pods, const struct ledger *ledger)
{
	uint32_t slots = ledger_slots(ledger, LEVEL_POD);

	pods->count = 0;
	if (ARRAY_RESERVE(pods->hashes, pods->size, slots) < 0)
		return;
	for (uint32_t row = 0; row < slots; row++) {
		const struct ledger_group *group = ledger_group_at(ledger, LEVEL_POD, row);
		const char *const *text = group->names ? group->names->text : NULL;

		if (group->row.used && text && text[LABEL_POD_ID][0])
			pods->hashes[pods->count++] =
				unit_pod_hash(text[LABEL_NAMESPACE], text[LABEL_POD_NAME]);
	}
	if (pods->count)
		qsort(pods->hashes, pods->count, sizeof(*pods->hashes), compare_hashes);
}

void units_follow(struct units *units, struct unit_accounts *accounts, const struct ledger *ledger,
		  uint64_t now_ns, int64_t boottime_ms)
{
	enum round_state state;

	(void)pthread_mutex_lock(&units->lock);
	state = units->state;
	(void)pthread_mutex_unlock(&units->lock);
	if (state == ROUND_ASKED) {
		if (now_ns > units->late_ns)
			unit_accounts_end(accounts); /* none of it has been read */
		return;
	}
	if (state == ROUND_OVER) {
		book(&units->reader, accounts, ledger, boottime_ms);
		if (!units->reader.targets.count)
			units->due_ns = now_ns + NO_TARGET_NS;
		units->state = ROUND_NONE; /* the thread does not look at it */
	}
	if (now_ns < units->due_ns)
		return;
	/* A little earlier than a multiple of the interval, which jitter could miss. */
	units->due_ns = now_ns + units->refresh_ns - units->refresh_ns / 20;
	units->late_ns = now_ns + units->refresh_ns + 2 * UNIT_ROUND_NS;
	unit_accounts_mark(accounts, ledger);
	if (units->reader.query_client)
		list_pods(&units->reader.here, ledger);
	units->state = ROUND_ASKED;
	(void)eventfd_write(units->asked_fd, 1);
}

static bool has_read_all(const struct units_health *health)
{
	for (uint32_t i = 0; i < health->count; i++) {
		if (!health->units[i].reads)
			return false;
	}
	return true;
}

void units_try(struct units *units, const struct ledger *ledger, uint64_t patience_ns,
	       struct units_health *ret)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	struct unit_accounts unused = { .count = 0 };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), end_ns = now_ns + patience_ns;

	for (; now_ns < end_ns; now_ns = clock_ns(CLOCK_MONOTONIC)) {
		units_get_health(units, ret);
		if (has_read_all(ret))
			break;
		units_follow(units, &unused, ledger, now_ns, 0);
		(void)nanosleep(&pause, NULL);
	}
	units_get_health(units, ret);
	unit_accounts_release(&unused);
}

/* ---- its life ---- */

static void free_units(struct units *units)
{
	unit_reader_close(&units->reader);
	cleanup_fd(&units->cancel_fd);
	cleanup_fd(&units->asked_fd);
	(void)pthread_mutex_destroy(&units->lock);
	free(units);
}

static int open_units(struct units *units, const struct units_options *options, struct diag *diag)
{
	int r;

	units->refresh_ns = options->refresh_ns;
	units->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	units->asked_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (units->cancel_fd < 0 || units->asked_fd < 0)
		return -errno;
	r = unit_reader_open(&units->reader, options, units->cancel_fd, diag);
	for (uint32_t i = 0; i < units->reader.rule_count; i++)
		memcpy(units->health.units[i].unit, units->reader.rules[i].name,
		       sizeof(units->health.units[i].unit));
	units->health.count = units->reader.rule_count;
	return r == 0 ? thread_start(&units->thread, 0, run, units) : r;
}

int units_start(const struct units_options *options, void (*start_thread)(void), struct units **ret,
		struct diag *diag)
{
	struct units *units = calloc(1, sizeof(*units));
	int r;

	if (!units)
		return diag_set(diag, -ENOMEM, "out of memory");
	(void)pthread_mutex_init(&units->lock, NULL); /* cannot fail with default attributes */
	units->start_thread = start_thread;
	units->cancel_fd = units->asked_fd = -1;
	r = open_units(units, options, diag);
	if (r < 0) {
		free_units(units);
		return r;
	}
	units->has_thread = true;
	*ret = units;
	return 0;
}

void units_stop(struct units *units)
{
	if (!units)
		return;
	if (units->has_thread) {
		(void)eventfd_write(units->cancel_fd, 1);
		if (thread_join_within(units->thread, PATIENCE_NS) < 0)
			return; /* a file hangs */
	}
	free_units(units);
}
