// SPDX-License-Identifier: Apache-2.0
#include "kepler/idle_state.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "attribution/learning/power_owners_line.h"
#include "base/clock.h"
#include "base/macro.h"

#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"

/* One reading or writing; it owns all its data. */
struct idle_job {
	struct offload_job job;
	bool is_load;
	char *dir;
	char facts[STATE_FACTS_MAX];
	char machine[STATE_MACHINE_MAX];
	char boot[STATE_MACHINE_MAX];
	struct state *state; /* to write, or as read */
	int result;
	struct diag diag;
};

static void job_free(struct idle_job *job)
{
	if (!job)
		return;
	free(job->state);
	free(job->dir);
	free(job);
}

static void job_drop(struct offload_job *job)
{
	job_free((struct idle_job *)job);
}

static void job_run(struct offload_job *base)
{
	struct idle_job *job = (struct idle_job *)base;

	if (!job->is_load) {
		job->result = state_save(job->dir, job->machine, job->state, &job->diag);
		return;
	}
	state_machine_key(MACHINE_ID_PATH, job->facts, job->machine);
	state_boot_key(BOOT_ID_PATH, job->boot);
	job->result = state_load(job->dir, job->machine, job->state, &job->diag);
}

/* Takes ownership of @state. */
static int begin(struct idle_state_keeper *keeper, bool is_load, struct state *state,
		 uint64_t now_ns)
{
	struct idle_job *job = calloc(1, sizeof(*job));
	char *dir = strdup(keeper->dir);
	int r = keeper->pool ? -ENOMEM : -EAGAIN;

	if (!job || !dir || !state) {
		free(job);
		free(dir);
		free(state);
		return r;
	}
	*job = (struct idle_job){ .job = { .run = job_run, .drop = job_drop },
				  .is_load = is_load,
				  .dir = dir,
				  .state = state };
	memcpy(job->facts, keeper->facts, sizeof(job->facts));
	memcpy(job->machine, keeper->machine, sizeof(job->machine));
	if (keeper->pool)
		r = offload_submit(keeper->pool, &job->job);
	if (r < 0) {
		job_free(job);
		return r;
	}
	keeper->job = job;
	keeper->began_ns = now_ns;
	keeper->given_up = false;
	return 0;
}

static enum idle_outcome failure_of(const struct idle_job *job)
{
	return job->is_load ? IDLE_NOT_READ : IDLE_NOT_WRITTEN;
}

enum idle_outcome idle_state_take(struct idle_state_keeper *keeper, struct offload_job *base,
				  struct diag *diag)
{
	struct idle_job *job = keeper->job;
	enum idle_outcome outcome = IDLE_NOTHING;

	if (!job || base != &job->job)
		return IDLE_NOTHING;
	keeper->job = NULL;
	if (job->is_load) {
		memcpy(keeper->machine, job->machine, sizeof(keeper->machine));
		memcpy(keeper->boot, job->boot, sizeof(keeper->boot));
		if (job->result == 0)
			keeper->loaded = TAKE_PTR(job->state);
		outcome = IDLE_READ;
	}
	if (job->result < 0 && !(job->is_load && job->result == -ENOENT)) {
		*diag = job->diag;
		outcome = failure_of(job);
	}
	job_free(job);
	return outcome;
}

/* Waits for the job under way; the pool has no other. */
static enum idle_outcome wait_for_job(struct idle_state_keeper *keeper, uint64_t patience_ns,
				      struct diag *diag)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), end_ns = now_ns + patience_ns;
	struct offload_job *job = NULL;

	while (!job && now_ns < end_ns) {
		struct pollfd ready = { .fd = offload_fd(keeper->pool), .events = POLLIN };

		(void)poll(&ready, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1);
		job = offload_take(keeper->pool);
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	return job ? idle_state_take(keeper, job, diag) : IDLE_NOTHING;
}

enum idle_outcome idle_state_open(struct idle_state_keeper *keeper, const char *dir,
				  const struct host_info *host, uint64_t patience_ns,
				  struct diag *diag)
{
	int r;

	if (!dir[0])
		return IDLE_NOTHING;
	state_machine_facts(host, keeper->facts);
	keeper->dir = strdup(dir);
	r = keeper->dir ? begin(keeper, true, calloc(1, sizeof(struct state)),
				clock_ns(CLOCK_MONOTONIC))
			: -ENOMEM;
	if (r < 0) {
		(void)diag_set(diag, r, "%s: %s", dir, strerrordesc_np(-r));
		return IDLE_NOT_READ;
	}
	return wait_for_job(keeper, patience_ns, diag);
}

_Static_assert(STATE_ENTRIES_MAX >= METER_ZONES_MAX, "each zone of a meter has its own line");

/* "rapl-sysfs/package-0": two sources may have the same zone, and each gives another idle power. */
static void state_key(const struct zone *zone, char key[STATE_KEY_MAX])
{
	char id[ZONE_ID_MAX];

	zone_id(zone, id);
	(void)snprintf(key, STATE_KEY_MAX, "%s/%s", zone->source, id);
}

/* "fit.0123456789abcdef.1/rapl-sysfs/package-0": line 1 of the costs learned in this boot. */
static void learned_key(const struct idle_state_keeper *keeper, const struct zone *zone,
			size_t line, char key[STATE_KEY_MAX])
{
	char id[ZONE_ID_MAX];

	zone_id(zone, id);
	(void)snprintf(key, STATE_KEY_MAX, "fit.%s.%zu/%s/%s", keeper->boot, line, zone->source,
		       id);
}

static void restore_learned(const struct idle_state_keeper *keeper, struct interval_engine *engine,
			    size_t index)
{
	const char *line[POWER_OWNERS_LINES];
	CLEANUP_FREE struct power_owners *owners = malloc(sizeof(*owners));
	char key[STATE_KEY_MAX];

	for (size_t i = 0; i < POWER_OWNERS_LINES; i++) {
		learned_key(keeper, interval_engine_zone(engine, index), i, key);
		line[i] = state_find(keeper->loaded, key);
		if (i == 0 && !line[0])
			return;
	}
	if (owners && keeper->boot[0] && power_owners_parse(line, owners) == 0)
		interval_engine_restore_learned(engine, index, owners);
}

static void restore_zone(struct interval_engine *engine, size_t index, const struct state *state)
{
	struct idle_learner learner;
	const struct zone *zone = interval_engine_zone(engine, index);
	char key[STATE_KEY_MAX], id[ZONE_ID_MAX];
	const char *line;

	state_key(zone, key);
	zone_id(zone, id);
	line = state_find(state, key);
	if (!line)
		line = state_find(state, id); /* from versions without the source in the key */
	if (line && idle_learner_parse(line, &learner) >= 0)
		interval_engine_restore(engine, index, &learner);
}

void idle_state_restore(struct idle_state_keeper *keeper, struct interval_engine *engine)
{
	size_t count = interval_engine_zone_count(engine);

	for (; keeper->loaded && keeper->restored < count; keeper->restored++) {
		restore_zone(engine, keeper->restored, keeper->loaded);
		restore_learned(keeper, engine, keeper->restored);
	}
}

/* A zone without learned idle power has no line of it. */
static int collect_zone(const struct interval_engine *engine, size_t index, struct state *state)
{
	const struct idle_learner *learner =
		&interval_engine_books(engine)->accountant.zones[index].learner;
	char key[STATE_KEY_MAX], line[STATE_LINE_MAX];
	int r;

	if (learner->time_ns == 0)
		return 0;
	state_key(interval_engine_zone(engine, index), key);
	r = idle_learner_format(learner, line, sizeof(line));
	return r < 0 ? r : state_put(state, key, line);
}

/* Without room there is none for the others, either: they are learned again. */
static int collect_learned(const struct idle_state_keeper *keeper,
			   const struct interval_engine *engine, size_t index, struct state *state)
{
	const struct power_owners *owners =
		zone_fits_learned(&interval_engine_books(engine)->accountant.fits, index);
	char key[STATE_KEY_MAX], line[POWER_OWNERS_LINE_MAX];

	for (size_t i = 0; owners && i < POWER_OWNERS_LINES; i++) {
		int r = power_owners_format(owners, i, line, sizeof(line));

		if (r == 0)
			continue;
		learned_key(keeper, interval_engine_zone(engine, index), i, key);
		r = r < 0 ? r : state_put(state, key, line);
		if (r < 0)
			return r;
	}
	return 0;
}

static int collect(const struct idle_state_keeper *keeper, const struct interval_engine *engine,
		   struct state *state, struct diag *diag)
{
	int learned = keeper->boot[0] ? 0 : -ENODATA;

	for (size_t i = 0; i < interval_engine_zone_count(engine); i++) {
		int r = collect_zone(engine, i, state);

		if (r < 0)
			return diag_set(diag, r, "learned parameters of zone %zu cannot be saved",
					i);
	}
	for (size_t i = 0; learned == 0 && i < interval_engine_zone_count(engine); i++)
		learned = collect_learned(keeper, engine, i, state);
	return 0;
}

enum idle_outcome idle_state_save(struct idle_state_keeper *keeper,
				  const struct interval_engine *engine, uint64_t now_ns,
				  struct diag *diag)
{
	CLEANUP_FREE struct state *state = NULL;
	int r;

	if (!keeper->dir || !keeper->dir[0])
		return IDLE_NOTHING;
	if (keeper->job) {
		(void)diag_set(diag, -EBUSY,
			       "%s: a read or write started %.0f s ago has not "
			       "finished",
			       keeper->dir, (double)(now_ns - keeper->began_ns) / 1e9);
		return IDLE_NOT_WRITTEN;
	}
	state = calloc(1, sizeof(*state));
	if (!state) {
		(void)diag_set(diag, -ENOMEM, "out of memory");
		return IDLE_NOT_WRITTEN;
	}
	if (collect(keeper, engine, state, diag) < 0)
		return IDLE_NOT_WRITTEN;
	if (state->count == 0)
		return IDLE_NOTHING;
	/*
	 * A file that could not be read at the start, because there was no thread, is read first.
	 */
	r = begin(keeper, !keeper->machine[0], TAKE_PTR(state), now_ns);
	if (r < 0) {
		(void)diag_set(diag, r, "%s: %s", keeper->dir, strerrordesc_np(-r));
		return IDLE_NOT_WRITTEN;
	}
	return IDLE_NOTHING;
}

enum idle_outcome idle_state_turn(struct idle_state_keeper *keeper, uint64_t now_ns,
				  struct diag *diag)
{
	if (!keeper->job || keeper->given_up || now_ns < keeper->began_ns + IDLE_STATE_LIMIT_NS)
		return IDLE_NOTHING;
	keeper->given_up = true;
	(void)diag_set(diag, -ETIMEDOUT, "%s does not answer", keeper->dir);
	return failure_of(keeper->job);
}

enum idle_outcome idle_state_close(struct idle_state_keeper *keeper,
				   const struct interval_engine *engine, uint64_t patience_ns,
				   struct diag *diag)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + patience_ns;
	enum idle_outcome outcome = IDLE_NOTHING;

	if (keeper->job)
		(void)wait_for_job(keeper, patience_ns, diag);
	if (engine)
		outcome = idle_state_save(keeper, engine, clock_ns(CLOCK_MONOTONIC), diag);
	if (outcome != IDLE_NOT_WRITTEN && keeper->job) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		outcome = wait_for_job(keeper, now_ns < end_ns ? end_ns - now_ns : 0, diag);
		if (keeper->job) {
			(void)diag_set(diag, -ETIMEDOUT, "%s does not answer", keeper->dir);
			outcome = IDLE_NOT_WRITTEN;
		}
	}
	if (keeper->job)
		offload_abandon(keeper->pool, &keeper->job->job);
	free(keeper->loaded);
	free(keeper->dir);
	*keeper = (struct idle_state_keeper){ 0 };
	return outcome;
}

static bool fill_health(const void *owner, void *ret)
{
	*(struct idle_state_health *)ret = ((const struct idle_state_keeper *)owner)->health;
	return true;
}

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_state_write_errors",
	  .type = FAMILY_COUNTER,
	  .help = "Times that the state file could not be read or written, or did not answer "
		  "in time.",
	  .value = HEALTH_VALUE(struct idle_state_health, errors) },
};

const struct health_part idle_state_health_part = {
	.size = sizeof(struct idle_state_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};
