// SPDX-License-Identifier: Apache-2.0
#include "kepler/meter_watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "meter/meter.h"
#include "meter/passthrough/passthrough.h"
#include "service/privileges.h"

#define LOOK_AT_FAILED_METERS 10 /* intervals */

static bool is_hosts(const struct zone *zone)
{
	return strcmp(zone->source, passthrough_meter.name) == 0;
}

/*
 * The sources of the whole machine and of its parts, without devices; the first of several. The
 * account of a host that the machine does not trust is named as what it is.
 */
static void name_power_sources(const struct interval_engine *engine, bool measured,
			       bool is_protected, struct snapshot_node *node)
{
	node->components_source[0] = node->platform_source[0] = '\0';
	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		const struct zone *zone = interval_engine_zone(engine, z);
		char *name = zone_kind_info[zone->kind].is_whole ? node->platform_source
								 : node->components_source;

		if (!zone_is_modelled(zone) == measured && !name[0] &&
		    !zone_kind_info[zone->kind].is_device && zone_kind_info[zone->kind].is_metered)
			(void)snprintf(name, sizeof(node->platform_source), "%s",
				       is_protected && is_hosts(zone) ? SOURCE_HOST_CLAIMED
								      : zone->source);
	}
}

static void describe(struct meter_watch *watch, struct session *session)
{
	watch->measured = !estimates_are_all(&interval_engine_books(session->engine)->accountant);
	sources_describe(&session->sources, !watch->measured, watch->source, sizeof(watch->source));
	name_power_sources(session->engine, watch->measured, session->sources.host.confidential[0],
			   &session->node);
	watch->described_zones = interval_engine_zone_count(session->engine);
}

void meter_watch_begin(struct meter_watch *watch, struct session *session)
{
	watch->found = sources_have_meters(&session->sources);
	watch->searching = sources_are_searched(&session->sources);
	describe(watch, session);
}

/* Zones from @first on. */
static void log_unread_zones(const struct interval_engine *engine, size_t first)
{
	for (size_t z = first; z < interval_engine_zone_count(engine); z++) {
		const struct zone *zone = interval_engine_zone(engine, z);
		const struct zone_status *status = interval_engine_view(engine, z).status;
		struct privilege_gap gap = { .remedy = "" };
		char id[ZONE_ID_MAX];

		if (status->state == ZONE_UP || !zone_kind_info[zone->kind].is_metered)
			continue;
		if (!zone_kind_info[zone->kind].is_device &&
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

/* Everything that meters cannot read, or read with a caveat, as one number; 0: nothing. */
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

/* A BMC that hangs is known to fail only after the start, and failures can change. */
static void follow_failed_meters(struct meter_watch *watch, const struct sources *sources)
{
	uint32_t failed;

	if (++watch->looks_at_failed % LOOK_AT_FAILED_METERS != 0)
		return;
	failed = hash_failed_meters(sources);
	if (failed != watch->failed)
		log_failed_meters(sources);
	watch->failed = failed;
}

void meter_watch_log_start(struct meter_watch *watch, const struct session *session)
{
	log_unread_zones(session->engine, 0);
	log_failed_meters(&session->sources);
	watch->failed = hash_failed_meters(&session->sources);
	if (watch->searching)
		log_warn("the search for meters has not finished because a driver does not "
			 "respond; energy is estimated until it does");
}

/*
 * Meters that are found while we run take over from the estimate once they count. Without memory
 * for their zones, the engine adopts these in a later interval than the one that found them.
 */
static bool follow_sources(struct meter_watch *watch, struct session *session)
{
	if (!watch->found && sources_have_meters(&session->sources)) {
		watch->found = true;
		log_info("found meters; switching from the estimate to measured energy in %g s or "
			 "more",
			 (double)interval_engine_books(session->engine)->accountant.settle_ns /
				 1e9);
		describe(watch, session);
		return true;
	}
	if (!watch->measured &&
	    !estimates_are_all(&interval_engine_books(session->engine)->accountant)) {
		describe(watch, session);
		log_info("measured energy counts from now on: %s", watch->source);
		return true;
	}
	if (interval_engine_zone_count(session->engine) != watch->described_zones)
		describe(watch, session);
	else if (watch->searching && !sources_are_searched(&session->sources))
		log_info("no meter found yet; searching again every 30 intervals");
	return false;
}

bool meter_watch_follow(struct meter_watch *watch, struct session *session,
			struct idle_state_keeper *idle_state)
{
	size_t first_new = watch->described_zones;
	bool has_changed = follow_sources(watch, session);

	idle_state_restore(idle_state, session->engine);
	log_unread_zones(session->engine, first_new);
	follow_failed_meters(watch, &session->sources);
	watch->searching = sources_are_searched(&session->sources);
	return has_changed;
}
