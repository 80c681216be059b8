// SPDX-License-Identifier: Apache-2.0
#include "kepler/idle_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "kepler/state_file.h"

#define MACHINE_ID_PATH "/etc/machine-id"

static void machine_key(const struct host_info *host, char key[STATE_MACHINE_MAX])
{
	char facts[256];

	(void)snprintf(facts, sizeof(facts), "%s %s %u %u", host->machine, host->cpu_model,
		       host->cpus, host->sockets);
	state_machine_key(MACHINE_ID_PATH, facts, key);
}

static void zone_key(const struct zone *zone, char key[STATE_KEY_MAX])
{
	(void)snprintf(key, STATE_KEY_MAX, "%s-%s", zone->name, zone->package);
}

static void restore_zone(struct interval_engine *engine, size_t index, const struct state *state)
{
	struct idle_learner learner;
	char key[STATE_KEY_MAX];
	const char *line;

	zone_key(interval_engine_zone(engine, index), key);
	line = state_find(state, key);
	if (line && idle_learner_parse(line, &learner) >= 0)
		interval_engine_restore(engine, index, &learner);
}

void idle_state_restore(const char *state_dir, const struct host_info *host,
			struct interval_engine *engine)
{
	CLEANUP_FREE struct state *state = calloc(1, sizeof(*state));
	char machine[STATE_MACHINE_MAX];
	struct diag diag = { "" };
	int r;

	if (!state_dir[0] || !state)
		return;
	machine_key(host, machine);
	r = state_load(state_dir, machine, state, &diag);
	if (r < 0) {
		if (r != -ENOENT)
			log_warn("idle power is learned anew: %s", diag.text);
		return;
	}
	for (size_t i = 0; i < interval_engine_zone_count(engine); i++)
		restore_zone(engine, i, state);
}

/* A zone that taught nothing yet, or whose idle power is not learned, has nothing to keep. */
static int collect_zone(const struct interval_engine *engine, size_t index, struct state *state)
{
	const struct idle_learner *learner = interval_engine_learner(engine, index);
	char key[STATE_KEY_MAX], line[STATE_LINE_MAX];
	int r;

	if (learner->time_ns == 0)
		return 0;
	zone_key(interval_engine_zone(engine, index), key);
	r = idle_learner_format(learner, line, sizeof(line));
	return r < 0 ? r : state_put(state, key, line);
}

int idle_state_save(const char *state_dir, const struct host_info *host,
		    const struct interval_engine *engine, struct diag *diag)
{
	CLEANUP_FREE struct state *state = calloc(1, sizeof(*state));
	char machine[STATE_MACHINE_MAX];

	if (!state_dir[0])
		return 0;
	if (!state)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (size_t i = 0; i < interval_engine_zone_count(engine); i++) {
		int r = collect_zone(engine, i, state);

		if (r < 0)
			return diag_set(diag, r, "the learner of zone %zu cannot be written down",
					i);
	}
	if (state->count == 0)
		return 0;
	machine_key(host, machine);
	return state_save(state_dir, machine, state, diag);
}
