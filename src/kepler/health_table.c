// SPDX-License-Identifier: Apache-2.0
#include "kepler/health_table.h"

#include "activity/activity_health.h"
#include "base/macro.h"
#include "engine/confinement.h"
#include "engine/series_health.h"
#include "estimate/model_health.h"
#include "export/push.h"
#include "export/send/send_board.h"
#include "kepler/monitor.h"
#include "kepler/pages/web.h"
#include "meter/passthrough/passthrough_health.h"
#include "rates/rates.h"
#include "units/units.h"
#include "workload/identity_health.h"

static const void *activity_of(const struct monitor *monitor)
{
	return interval_engine_activity(monitor->session.engine);
}

static const void *series_of(const struct monitor *monitor)
{
	return interval_engine_series(monitor->session.engine);
}

static const void *identities_of(const struct monitor *monitor)
{
	return monitor->session.sources.identities;
}

static const void *reads_of(const struct monitor *monitor)
{
	return monitor->session.sources.reads;
}

static const void *passthrough_of(const struct monitor *monitor)
{
	const struct meter_table *meters = monitor->session.sources.meters;

	return meters ? meter_table_meter(meters, &passthrough_meter) : NULL;
}

#define IN(member) offsetof(struct monitor, member), NULL
#define BY(owner)  0, owner

static const struct {
	const struct health_part *part;
	size_t offset;                                       /* of the owner in a monitor; or: */
	const void *(*owner)(const struct monitor *monitor); /* NULL: there is none */
} table[] = {
	{ &self_health_part, IN(session.stats) },
	{ &loop_health_part, IN(steps) },
	{ &series_health_part, BY(series_of) },
	{ &activity_health_part, BY(activity_of) },
	{ &identity_health_part, BY(identities_of) },
	{ &machine_reads_health_part, BY(reads_of) },
	{ &zone_health_part, IN(zones) },
	{ &names_health_part, IN(session.sources.names) },
	{ &device_allocations_health_part, IN(session.sources.allocations) },
	{ &model_files_health_part, IN(session.sources.model_sources) },
	{ &model_url_health_part, IN(session.sources.model_sources) },
	{ &idle_state_health_part, IN(idle_state) },
	{ &passthrough_health_part, BY(passthrough_of) },
	{ &rates_health_part, IN(session.rates) },
	{ &units_health_part, IN(session.units) },
	{ &recorder_health_part, IN(session.recorder) },
	{ &confinement_health_part, IN(session.landlock_abi) },
	{ &reload_health_part, IN(reload) },
	{ &send_health_part, IN(sends) },
};
_Static_assert(ARRAY_SIZE(table) <= HEALTH_TABLE_MAX, "room for each");

const struct health_part *health_table_part(size_t index)
{
	if (index < ARRAY_SIZE(table))
		return table[index].part;
	index -= ARRAY_SIZE(table);
	if (index-- == 0)
		return web_exporter.health;
	for (size_t i = 0; push_exporters[i]; i++) {
		if (push_exporters[i]->health && index-- == 0)
			return push_exporters[i]->health;
	}
	return NULL;
}

size_t health_table_sources(const struct monitor *monitor,
			    struct health_source ret[HEALTH_TABLE_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		ret[count++] = (struct health_source){
			.part = table[i].part,
			.owner = table[i].owner ? table[i].owner(monitor)
						: (const char *)monitor + table[i].offset,
		};
	for (size_t i = 0; i < monitor->exporters.count; i++) {
		const struct exporter *exporter = &monitor->exporters.list[i];

		if (exporter->ops->health && count < HEALTH_TABLE_MAX)
			ret[count++] =
				(struct health_source){ exporter->ops->health, exporter->self };
	}
	return count;
}
