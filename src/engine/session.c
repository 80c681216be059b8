// SPDX-License-Identifier: Apache-2.0
#include "engine/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"
#include "engine/confinement.h"
#include "engine/file_limits.h"
#include "engine/node_facts.h"
#include "service/denied_calls.h"
#include "service/privileges.h"
#include "snapshot/snapshot_holder.h"

int session_begin(struct session *session, const struct config *config, bool is_confined,
		  struct diag *diag)
{
	struct diag why = { "" };
	int r = snapshot_holder_new(&session->holder);

	if (r < 0)
		return diag_set(diag, r, "cannot set up the snapshots: %s", strerrordesc_np(-r));
	session->config = config;
	session->is_confined = is_confined;
	if (device_holders_start(config, &session->holders, &why) < 0)
		log_warn("the processes that use AMD and Intel GPUs are unknown: %s", why.text);
	if (is_confined)
		session->landlock_abi = file_limits_enter(config);
	return 0;
}

int session_open_processes(struct session *session, struct diag *diag)
{
	int r = sources_open_processes(session->config, session->holders, &session->sources, diag);

	if (r < 0)
		return r;
	session->holders = NULL; /* taken over */
	if (session->is_confined)
		confinement_drop_privileges(session->config, &session->sources);
	return 0;
}

int session_open_meters(struct session *session, struct diag *diag)
{
	int r = 0;

	/* Before Kubernetes, which is to keep their pods' addresses. */
	if (session->config->units.rule_count)
		r = units_start(&session->config->units, privileges_drop_thread, &session->units,
				diag);
	if (r == 0 && session->units)
		session->sources.names.addresses = units_addresses(session->units);
	if (r == 0)
		r = sources_open_meters(session->config, &session->sources, diag);
	if (r == 0 && rates_are_wanted(&session->config->rates))
		r = rates_start(&session->config->rates, privileges_drop_thread, &session->rates,
				diag);
	if (r < 0)
		return r;
	if (session->is_confined)
		confinement_filter_calls(session->config, &session->sources);
	node_facts_init(&session->node, &session->sources.host,
			(double)clock_ns(CLOCK_BOOTTIME) / 1e9);
	self_stats_open(&session->stats);
	return 0;
}

int session_open_engine(struct session *session, struct diag *diag)
{
	int r;

	session->peers.holder = session->holder;
	session->peers.tap = recorder_tap(&session->recorder);
	session->peers.units = session->units;
	r = interval_engine_new(&session->sources, &session->peers, session->config,
				&session->engine);
	if (r < 0)
		return diag_set(diag, r, "cannot set up the ledger: %s", strerrordesc_np(-r));
	session->health[0] = (struct health_source){ &rates_health_part, &session->rates };
	session->health[1] = (struct health_source){ &units_health_part, &session->units };
	interval_engine_set_health(session->engine, session->health, 2);
	return 0;
}

int session_run_interval(struct session *session)
{
	struct interval_moment now;

	denied_calls_tell();
	sources_follow(&session->sources, clock_ns(CLOCK_MONOTONIC));
	recorder_report(&session->recorder);
	now = interval_moment_now();
	return interval_engine_run(session->engine, &now, &session->node);
}

void session_reconfigure(struct session *session, const struct config *config)
{
	session->config = config;
	interval_engine_reconfigure(session->engine, config);
	names_reconfigure(&session->sources.names, config);
	if (session->rates)
		rates_reconfigure(session->rates, &config->rates);
}

int session_close(struct session *session, uint64_t patience_ns)
{
	int r;

	interval_engine_free(session->engine);
	r = recorder_close(&session->recorder, patience_ns);
	(void)snapshot_holder_free(session->holder); /* a thread that hangs keeps it */
	sources_close(&session->sources);
	rates_stop(session->rates);
	units_stop(session->units);
	device_holders_release(session->holders);
	self_stats_close(&session->stats);
	free(session->cpu_list);
	return r;
}
