// SPDX-License-Identifier: Apache-2.0
#include "kepler/zone_watch.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "energy/zone_coverage.h"
#include "service/privileges.h"

/* One may be a reset; so many in a row mean that the limit is wrong, or the counter. */
#define REFUSALS_IN_A_ROW 3

static void look_at_refusals(struct zone_watch *watch, const struct zone_view *view, size_t index)
{
	const struct zone_status *status = view->status;
	char id[ZONE_ID_MAX];

	if (watch->refused[index] || status->refusals < REFUSALS_IN_A_ROW)
		return;
	watch->refused[index] = true;
	zone_id(view->zone, id);
	log_warn("ignoring the energy of %s (%s): %llu consecutive readings exceed the plausible "
		 "power, or came too late to rule out a counter wrap; if the machine can draw that "
		 "much, raise --meter.max-watts",
		 id, view->zone->path, (unsigned long long)status->refusals);
}

static void look_at_sums(struct zone_watch *watch, const struct zone_sums_input *input)
{
	watch->health.packages_exceeded = zone_sums_add(&watch->sums, input);
	for (size_t z = 0; z < input->count; z++) {
		if (!watch->sums.exceeded[z] || watch->exceeded[z])
			continue;
		watch->exceeded[z] = true;
		log_warn("core and uncore of package-%s (%s) counted more energy in a minute than "
			 "the package that contains them: one of these counters is wrong or means "
			 "something else here; nothing is corrected",
			 input->zones[z]->instance, input->zones[z]->path);
	}
}

static void look_at_standstill(struct zone_watch *watch, const struct zone_view *view, size_t index)
{
	const struct zone *zone = view->zone;
	char id[ZONE_ID_MAX];

	if (watch->still[index] || !view->is_still)
		return;
	watch->still[index] = true;
	zone_id(zone, id);
	log_warn("%s (%s, %s) does not advance while another source of the same energy does: the "
		 "other source is charged from now on; see why it does not count, or leave its "
		 "source out of --meters",
		 id, zone->source, zone->path);
}

/* Each time: the host of a virtual machine may be away often. */
static void look_at_silence(struct zone_watch *watch, const struct zone_view *view, size_t index)
{
	char id[ZONE_ID_MAX];

	if (watch->away[index] == view->is_away)
		return;
	watch->away[index] = view->is_away;
	zone_id(view->zone, id);
	if (view->is_away)
		log_warn("%s (%s) has not been read for a minute: its energy is estimated until it "
			 "is read again",
			 id, view->zone->source);
	else
		log_info("%s (%s) is read again: it counts, and the estimate has ended", id,
			 view->zone->source);
}

static void look_at_total(struct zone_watch *watch, const struct zone_view *view, size_t index)
{
	const struct zone *zone = view->zone;
	char id[ZONE_ID_MAX];

	if (watch->missed[index] || !view->missed_total)
		return;
	watch->missed[index] = true;
	zone_id(zone, id);
	log_warn("%s (%s, %s) was found after the total of a meter that includes it had begun, so "
		 "it is in no total; restart Kepler to include it",
		 id, zone->source, zone->path);
}

static void look_at_coverage(struct zone_watch *watch, const struct zone_view *view, size_t index)
{
	char text[ZONE_COVERAGE_TEXT_MAX];
	const char *remedy;

	if (watch->fell_short[index] || !view->coverage_is_of_minute ||
	    !zone_coverage_is_short(view->zone, view->coverage_ratio, text, &remedy))
		return;
	watch->fell_short[index] = true;
	log_warn("%s; %s", text, remedy);
}

static void tell_of_silent(const struct zone *zone, const struct zone_status *status)
{
	struct privilege_gap gap = { .remedy = "" };
	char id[ZONE_ID_MAX];

	if (!zone_kind_info[zone->kind].is_device &&
	    (status->error == -EACCES || status->error == -EPERM))
		gap = privileges_denied(NEED_READ_ENERGY);
	zone_id(zone, id);
	log_warn("energy of %s (%s, %s) is not counted: it has had no value yet: %s%s%s%s%s", id,
		 zone->source, zone->path,
		 status->error ? strerrordesc_np(-status->error) : zone_state_name(status->state),
		 gap.missing ? "; missing " : "", gap.missing ? gap.missing : "",
		 gap.remedy[0] ? "; " : "", gap.remedy);
}

/* Only when there are more of them than before. One that was not asked yet may have a value. */
static void tell_silent(struct zone_watch *watch, const struct meter_table *meters)
{
	const struct zone *zone;
	struct zone_status status;
	size_t asked = 0;

	for (size_t i = 0; meters && meter_table_silent(meters, i, &status); i++)
		asked += status.state != ZONE_MISSED;
	if (asked <= watch->silent)
		return;
	watch->silent = asked;
	for (size_t i = 0; (zone = meter_table_silent(meters, i, &status)); i++) {
		if (status.state != ZONE_MISSED)
			tell_of_silent(zone, &status);
	}
}

void zone_watch_count(struct zone_watch *watch, const struct sources *sources)
{
	struct zone_health *health = &watch->health;
	const struct meter_table *meters = sources->meters;

	health->is_searching = sources_are_searched(sources);
	health->left_out = meters ? meter_table_ignored(meters) : 0;
	health->silent = meters ? meter_table_silent_count(meters) : 0;
	health->device_files_unread = meters ? meter_table_unread_device_files(meters) : 0;
	tell_silent(watch, meters);
	if (!health->left_out || watch->left_out)
		return;
	watch->left_out = true;
	log_info("%llu zone(s) of energy are left out: %s", (unsigned long long)health->left_out,
		 sources_why_left_out(sources));
}

void zone_watch_look(struct zone_watch *watch, const struct interval_engine *engine,
		     uint64_t now_ns)
{
	const struct books *books = interval_engine_books(engine);
	const struct zone *zones[ZONES_MAX];
	const struct zone_status *status[ZONES_MAX];
	const struct zone_sums_input sums = {
		.count = interval_engine_zone_count(engine),
		.zones = zones,
		.status = status,
		.spans = books->spans,
		.span_count = books->span_count,
		.now_ns = now_ns,
	};

	for (size_t z = 0; z < sums.count; z++) {
		const struct zone_view view = interval_engine_view(engine, z);

		zones[z] = view.zone;
		status[z] = view.status;
		look_at_refusals(watch, &view, z);
		look_at_coverage(watch, &view, z);
		look_at_standstill(watch, &view, z);
		look_at_silence(watch, &view, z);
		look_at_total(watch, &view, z);
	}
	look_at_sums(watch, &sums);
}

static bool fill_health(const void *owner, void *ret)
{
	*(struct zone_health *)ret = ((const struct zone_watch *)owner)->health;
	return true;
}

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_meters_searching",
	  .type = FAMILY_GAUGE,
	  .help = "1 if the first search for energy meters is still waiting for a driver that "
		  "does not respond, otherwise 0. Energy is estimated meanwhile.",
	  .value = HEALTH_VALUE(struct zone_health, is_searching) },
	{ .name = "kepler_exporter_zones_without_value",
	  .type = FAMILY_GAUGE,
	  .help = "Zones that were found but have not given a single value since Kepler started. "
		  "They have no series and are in no total.",
	  .value = HEALTH_VALUE(struct zone_health, silent) },
	{ .name = "kepler_exporter_zones_left_out",
	  .type = FAMILY_GAUGE,
	  .help = "Energy zones that were found but are not read, because another zone counts the "
		  "same energy, because they are a single core of a package (AMD), or because "
		  "there are too many.",
	  .value = HEALTH_VALUE(struct zone_health, left_out) },
	{ .name = "kepler_exporter_device_files_unread",
	  .type = FAMILY_GAUGE,
	  .help = "Open device files of AMD and Intel GPUs beyond the limits per process or in "
		  "total. Their use is unknown; GPU time that no known client explains is unseen.",
	  .value = HEALTH_VALUE(struct zone_health, device_files_unread) },
	{ .name = "kepler_exporter_packages_exceeded",
	  .type = FAMILY_GAUGE,
	  .help = "Packages whose parts, core and uncore, counted more energy over the last "
		  "minute than the package itself, so that one of the counters is wrong. Nothing "
		  "is corrected.",
	  .value = HEALTH_VALUE(struct zone_health, packages_exceeded) },
};

const struct health_part zone_health_part = {
	.size = sizeof(struct zone_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};
