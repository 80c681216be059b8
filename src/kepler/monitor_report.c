// SPDX-License-Identifier: Apache-2.0
/* What the loop says: to the log, the service manager, the terminal and, of itself, in metrics. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/terminal.h"
#include "export/live_table.h"
#include "kepler/monitor_parts.h"
#include "service/privileges.h"

#define LOOK_AT_FAILED_METERS 10 /* intervals */

void monitor_log_warnings(const struct config *config)
{
	const char *line = config->options.warnings ? config->options.warnings : "";

	while (*line) {
		size_t len = strcspn(line, "\n");

		log_warn("configuration: %.*s", (int)len, line);
		line += len + (line[len] == '\n');
	}
}

void monitor_show_table(struct monitor *monitor)
{
	struct live_table_view view = {
		.url = monitor->url,
		.source = monitor->source,
		.colour = terminal_wants_colour(STDOUT_FILENO),
	};

	if (!monitor->table || interval_engine_elapsed_ns(monitor->session.engine) == 0)
		return;
	terminal_size(STDOUT_FILENO, &view.rows, &view.columns);
	strbuf_reset(&monitor->frame);
	if (live_table_draw(interval_engine_power(monitor->session.engine), &view,
			    &monitor->frame) == 0)
		(void)live_screen_show(&monitor->screen, STDOUT_FILENO, &monitor->frame);
}

/*
 * What told of the whole machine, and what of its parts, devices apart; of several sources the
 * first.
 */
static void name_power_sources(const struct interval_engine *engine, bool measured,
			       struct snapshot_node *node)
{
	node->components_source[0] = node->platform_source[0] = '\0';
	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		const struct zone *zone = interval_engine_zone(engine, z);
		char *name = zone_kind_is_whole(zone->kind) ? node->platform_source
							    : node->components_source;

		if (!zone_is_modelled(zone) == measured && !name[0] &&
		    !zone_kind_is_device(zone->kind) && zone_kind_is_metered(zone->kind))
			(void)snprintf(name, sizeof(node->platform_source), "%s", zone->source);
	}
}

void monitor_describe_sources(struct monitor *monitor)
{
	monitor->measured = !interval_engine_is_estimated(monitor->session.engine);
	sources_describe(&monitor->session.sources, !monitor->measured, monitor->source,
			 sizeof(monitor->source));
	name_power_sources(monitor->session.engine, monitor->measured, &monitor->session.node);
	monitor->described_zones = interval_engine_zone_count(monitor->session.engine);
}

/* Of those from @first on. */
static void log_unread_zones(const struct interval_engine *engine, size_t first)
{
	for (size_t z = first; z < interval_engine_zone_count(engine); z++) {
		const struct zone *zone = interval_engine_zone(engine, z);
		const struct zone_status *status = interval_engine_status(engine, z);
		struct privilege_gap gap = { .remedy = "" };
		char id[ZONE_ID_MAX];

		if (status->state == ZONE_UP || !zone_kind_is_metered(zone->kind))
			continue;
		if (!zone_kind_is_device(zone->kind) &&
		    (status->error == -EACCES || status->error == -EPERM))
			gap = privileges_denied(NEED_READ_ENERGY);
		zone_id(zone, id);
		log_warn("energy of %s (%s) is not read: %s%s%s%s%s", id, zone->path,
			 status->error ? strerrordesc_np(-status->error)
				       : zone_state_name(status->state),
			 gap.missing ? "; missing " : "", gap.missing ? gap.missing : "",
			 gap.remedy[0] ? "; " : "", gap.remedy);
	}
}

/* Of all that meters cannot read, or read with a caveat, as one number: 0 where that is nothing. */
static uint32_t hash_failed_meters(const struct sources *sources)
{
	struct meter_remark remark;
	uint32_t hash = 0;

	for (size_t i = 0; sources->meters && meter_table_remark(sources->meters, i, &remark); i++)
		if (remark.is_failure || remark.is_caveat)
			hash = hash32_bytes(hash + 1, remark.what, strlen(remark.what));
	return hash;
}

static void log_failed_meters(const struct sources *sources)
{
	struct meter_remark remark;

	for (size_t i = 0; sources->meters && meter_table_remark(sources->meters, i, &remark); i++)
		if (remark.is_failure || remark.is_caveat)
			log_warn("%s", remark.what);
}

/* A BMC that hangs is known to fail after the start; and what fails may change. */
static void follow_failed_meters(struct monitor *monitor)
{
	uint32_t failed;

	if (++monitor->looks_at_failed_meters % LOOK_AT_FAILED_METERS != 0)
		return;
	failed = hash_failed_meters(&monitor->session.sources);
	if (failed != monitor->failed_meters)
		log_failed_meters(&monitor->session.sources);
	monitor->failed_meters = failed;
}

/*
 * Meters that are found while we run take over from the estimate once they count. Without memory
 * for their zones the engine adopts these in a later interval than the one that found them.
 */
void monitor_follow_meters(struct monitor *monitor)
{
	bool searching = sources_are_searched(&monitor->session.sources);
	size_t first_new = monitor->described_zones;

	if (!monitor->found && sources_have_meters(&monitor->session.sources)) {
		monitor->found = true;
		log_info("found meters; switching from the estimate to measured energy in %g s or "
			 "more",
			 (double)interval_engine_settle_ns(monitor->session.engine) / 1e9);
		monitor_describe_sources(monitor);
		notify_status(monitor->notify, monitor->source);
	} else if (!monitor->measured && !interval_engine_is_estimated(monitor->session.engine)) {
		monitor_describe_sources(monitor);
		log_info("measured energy counts from now on: %s", monitor->source);
		notify_status(monitor->notify, monitor->source);
	} else if (interval_engine_zone_count(monitor->session.engine) !=
		   monitor->described_zones) {
		monitor_describe_sources(monitor);
	} else if (monitor->searching && !searching) {
		log_info("no meter found yet; searching again every 30 intervals");
	}
	idle_state_restore(&monitor->idle_state, monitor->session.engine);
	log_unread_zones(monitor->session.engine, first_new);
	follow_failed_meters(monitor);
	monitor->searching = searching;
	monitor->zones.health.is_searching = searching;
}

/* Nothing here can change it, so it is no warning. */
void monitor_tell_of_unseen(struct monitor *monitor)
{
	if (monitor->told_unseen ||
	    !interval_engine_activity(monitor->session.engine)->unseen_processes)
		return;
	monitor->told_unseen = true;
	log_info("process 1 is hidden from BPF by this kernel; its CPU time comes from /proc, in "
		 "ticks");
}

void monitor_log_start(struct monitor *monitor)
{
	struct activity_info info;

	activity_get_info(monitor->session.sources.activity, &info);
	if (info.why_not_bpf[0])
		log_warn("processes are read from /proc: %s", info.why_not_bpf);
	if (info.sees_part)
		log_warn("only some of this machine's processes are visible; give Kepler the "
			 "host's PID namespace (hostPID: true) and a /proc without hidepid. The "
			 "energy of the others is unattributed, reason unseen");
	else if (info.own_pid_namespace)
		log_warn("Kepler has its own PID namespace, so /proc does not show the machine's "
			 "processes: virtual machines are not recognised; give it the host's "
			 "(hostPID: true)");
	if (info.account != MACHINE_ACCOUNT_GOOD)
		log_warn("%s/stat does not show the machine's CPU time: the energy of invisible "
			 "processes is shared among the visible ones",
			 monitor->config->host.procfs);
	if (info.by_bpf && info.why_not_counted[0])
		log_info("%s: %s",
			 info.counts_switches ? "hardware events that are not counted"
					      : "no hardware counters here, so energy is shared by "
						"CPU time",
			 info.why_not_counted);
	if (info.refused)
		log_warn("the kernel refuses BPF programs: %s", info.refused_text);
	if (identity_resolver_sees_part(monitor->session.sources.identities))
		log_warn("%s shows only Kepler's own container, whose work is charged to the "
			 "system; mount the host's /sys and point --host.cgroupfs there",
			 monitor->config->host.cgroupfs);
	log_unread_zones(monitor->session.engine, 0);
	log_failed_meters(&monitor->session.sources);
	monitor->failed_meters = hash_failed_meters(&monitor->session.sources);
	if (monitor->searching)
		log_warn("the search for meters has not finished because a driver does not "
			 "respond; energy is estimated until it does");
	log_info("Kepler serves %s", monitor->url);
	log_info("energy: %s; processes: %s; interval %g s", monitor->source, info.reader,
		 (double)monitor->config->monitor.interval_ns / 1e9);
}
