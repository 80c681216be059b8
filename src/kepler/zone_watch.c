// SPDX-License-Identifier: Apache-2.0
#include "kepler/zone_watch.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "energy/zone_coverage.h"
#include "service/privileges.h"

/* One may be a reset; so many in a row mean that the limit is wrong, or the counter. */
#define REFUSALS_IN_A_ROW 3

static void look_at_refusals(struct zone_watch *watch, const struct interval_engine *engine,
			     size_t index)
{
	const struct zone *zone = interval_engine_zone(engine, index);
	const struct zone_status *status = interval_engine_status(engine, index);
	char id[ZONE_ID_MAX];

	if (watch->refused[index] || status->refusals < REFUSALS_IN_A_ROW)
		return;
	watch->refused[index] = true;
	zone_id(zone, id);
	log_warn("ignoring the energy of %s (%s): %llu consecutive readings exceed the plausible "
		 "power, or came too late to rule out a counter wrap; if the machine can draw that "
		 "much, raise --meter.max-watts",
		 id, zone->path, (unsigned long long)status->refusals);
}

static void look_at_sums(struct zone_watch *watch, const struct interval_engine *engine,
			 uint64_t now_ns)
{
	const struct zone *zones[ZONES_MAX];
	const struct zone_status *status[ZONES_MAX];
	struct zone_sums_input input = {
		.count = interval_engine_zone_count(engine),
		.zones = zones,
		.status = status,
		.now_ns = now_ns,
	};

	for (size_t z = 0; z < input.count; z++) {
		zones[z] = interval_engine_zone(engine, z);
		status[z] = interval_engine_status(engine, z);
	}
	input.spans = interval_engine_spans(engine, &input.span_count);
	watch->exceeded_count = zone_sums_add(&watch->sums, &input);
	for (size_t z = 0; z < input.count; z++) {
		if (!watch->sums.exceeded[z] || watch->exceeded[z])
			continue;
		watch->exceeded[z] = true;
		log_warn("core and uncore of package-%s (%s) counted more energy in a minute than "
			 "the package that contains them: one of these counters is wrong or means "
			 "something else here; nothing is corrected",
			 zones[z]->instance, zones[z]->path);
	}
}

static void look_at_standstill(struct zone_watch *watch, const struct interval_engine *engine,
			       size_t index)
{
	const struct zone *zone = interval_engine_zone(engine, index);
	char id[ZONE_ID_MAX];

	if (watch->still[index] || !interval_engine_is_still(engine, index))
		return;
	watch->still[index] = true;
	zone_id(zone, id);
	log_warn("%s (%s, %s) stands still while another source of the same energy counts: that "
		 "one is charged from now on; see why it does not count, or leave its source out "
		 "of --meters",
		 id, zone->source, zone->path);
}

static void look_at_coverage(struct zone_watch *watch, const struct interval_engine *engine,
			     size_t index)
{
	char text[ZONE_COVERAGE_TEXT_MAX];
	const char *remedy;
	bool is_of_minute = false;
	double coverage = interval_engine_coverage(engine, index, &is_of_minute);

	if (watch->fell_short[index] || !is_of_minute ||
	    !zone_coverage_is_short(interval_engine_zone(engine, index), coverage, text, &remedy))
		return;
	watch->fell_short[index] = true;
	log_warn("%s; %s", text, remedy);
}

static void tell_of_silent(const struct zone *zone, const struct zone_status *status)
{
	struct privilege_gap gap = { .remedy = "" };
	char id[ZONE_ID_MAX];

	if (!zone_kind_is_device(zone->kind) &&
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

void zone_watch_describe(struct zone_watch *watch, const struct sources *sources,
			 struct snapshot_self *self)
{
	self->packages_exceeded = watch->exceeded_count;
	self->zones_left_out = sources->meters ? meter_table_ignored(sources->meters) : 0;
	self->zones_silent = sources->meters ? meter_table_silent_count(sources->meters) : 0;
	tell_silent(watch, sources->meters);
	self->device_files_unread =
		sources->meters ? meter_table_unread_device_files(sources->meters) : 0;
	if (!self->zones_left_out || watch->left_out)
		return;
	watch->left_out = true;
	log_info("%llu zone(s) of energy are left out: %s",
		 (unsigned long long)self->zones_left_out, sources_why_left_out(sources));
}

void zone_watch_look(struct zone_watch *watch, const struct interval_engine *engine,
		     uint64_t now_ns)
{
	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		look_at_refusals(watch, engine, z);
		look_at_coverage(watch, engine, z);
		look_at_standstill(watch, engine, z);
	}
	look_at_sums(watch, engine, now_ns);
}
