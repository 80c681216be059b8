// SPDX-License-Identifier: Apache-2.0
/*
 * The families that are sent to receivers of OpenTelemetry, with its names. Names of the hardware
 * are from the semantic conventions (hw.energy, hw.host.energy), which have no energy of owners:
 * that is under a name of Kepler's own.
 *
 * Only zones of totals are sent (energy/total.h): no energy is in two of them, so that a receiver
 * may add up all points of a metric. A meter of the whole machine is in a total only without a part
 * of it, and so no energy is both in hw.energy and in hw.host.energy, as the conventions demand.
 */
#include <pthread.h>

#include "base/macro.h"
#include "export/catalog/catalog_table.h"

#define L_HARDWARE                                                                                 \
	LABELS(POINT_HW_ID, POINT_HW_TYPE, POINT_KEPLER_ZONE, POINT_KEPLER_MODE,                   \
	       POINT_KEPLER_SOURCE, POINT_KEPLER_QUALITY, POINT_KEPLER_SCOPE)
#define L_HOST                                                                                     \
	LABELS(POINT_KEPLER_ZONE, POINT_KEPLER_MODE, POINT_KEPLER_SOURCE, POINT_KEPLER_QUALITY,    \
	       POINT_KEPLER_SCOPE)
#define L_REASON                                                                                   \
	LABELS(POINT_HW_ID, POINT_KEPLER_ZONE, POINT_KEPLER_MODE, POINT_KEPLER_SOURCE,             \
	       POINT_KEPLER_QUALITY, POINT_KEPLER_REASON)
#define L_OWNER                                                                                    \
	LABELS(POINT_ROW_HW_ID, POINT_KEPLER_ZONE, POINT_KEPLER_MODE, POINT_KEPLER_SOURCE,         \
	       POINT_KEPLER_QUALITY, POINT_KEPLER_LEVEL)

#define L_UNIT_OF_POD                                                                              \
	LABELS(POINT_UNIT_NAMESPACE, POINT_UNIT_POD, POINT_UNIT_POD_UID, POINT_KEPLER_UNIT)
#define L_UNIT_ENERGY_OF_POD                                                                       \
	LABELS(POINT_UNIT_NAMESPACE, POINT_UNIT_POD, POINT_UNIT_POD_UID, POINT_KEPLER_UNIT,        \
	       POINT_KEPLER_MODE, POINT_KEPLER_SOURCE)

/* clang-format off */
static const struct family node[] = {
	{ "hw.energy", COUNTER, "J", OPENTELEMETRY,
	  OF_PART_MODES, ZONE(node_uj, 6), L_HARDWARE,
	  "Energy of a part of the machine since Kepler started.", NULL },
	{ "hw.power", GAUGE, "W", OPENTELEMETRY,
	  OF_PART_MODES, ZONE(watts, 0), L_HARDWARE,
	  "Mean power of a part of the machine over the last interval.", NULL },
	{ "hw.host.energy", COUNTER, "J", OPENTELEMETRY,
	  OF_WHOLE_MODES, ZONE(node_uj, 6), L_HOST,
	  "Energy of the whole machine since Kepler started, where none of its parts is in "
	  "hw.energy.", NULL },
	{ "hw.host.power", GAUGE, "W", OPENTELEMETRY,
	  OF_WHOLE_MODES, ZONE(watts, 0), L_HOST,
	  "Mean power of the whole machine over the last interval, where none of its parts is in "
	  "hw.power.", NULL },
	{ "kepler.energy.unattributed", COUNTER, "J", OPENTELEMETRY,
	  OF_ZONE_REASONS, ZONE(unattributed_uj, 6), L_REASON,
	  "Part of the machine's energy that belongs to no process or container, by "
	  "reason.", NULL },
	{ "kepler.energy.pending", GAUGE, "J", OPENTELEMETRY,
	  OF_PENDING, MICROJOULES, L_OWNER,
	  "Energy already charged that is not in kepler.energy yet: its series settles "
	  "(--metrics.settle), or the names of its owner are not known yet.", NULL },
	{ "kepler.unit.energy", COUNTER, "J", OPENTELEMETRY,
	  OF_UNIT_ENERGY, { .decimals = 6, .level = LEVEL_POD }, L_UNIT_ENERGY_OF_POD,
	  "Part of the pod's kepler.energy that was charged while the unit of work was "
	  "counted.", NULL },
	{ "kepler.units", COUNTER, "1", OPENTELEMETRY,
	  OF_UNITS, { .decimals = 6, .level = LEVEL_POD }, L_UNIT_OF_POD,
	  "Units of work of the pod, counted over the time of kepler.unit.energy.", NULL },
};

static const struct family row_energy = {
	"kepler.energy", COUNTER, "J", OPENTELEMETRY,
	OF_ROWS, { .decimals = 6 }, L_OWNER,
	"Energy charged to the resource.", NULL,
};
static const struct family row_retired = {
	"kepler.energy.retired", COUNTER, "J", OPENTELEMETRY,
	OF_RETIRED, { .decimals = 6 }, L_OWNER,
	"Energy of resources that are no longer sent.", NULL,
};
/* clang-format on */

static struct {
	pthread_once_t once;
	struct family rows[2 * LEVEL_COUNT]; /* the two of a level side by side */
} made = { .once = PTHREAD_ONCE_INIT };

static void make_rows(void)
{
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		struct family *rows = &made.rows[2 * (size_t)level];

		rows[0] = row_energy;
		rows[1] = row_retired;
		rows[0].where.level = rows[1].where.level = (uint8_t)level;
	}
}

const struct family *catalog_opentelemetry_at(size_t index)
{
	if (index < ARRAY_SIZE(node))
		return &node[index];
	index -= ARRAY_SIZE(node);
	(void)pthread_once(&made.once, make_rows);
	return index < ARRAY_SIZE(made.rows) ? &made.rows[index] : NULL;
}
