/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every family that Kepler exports, once, as data: name, type, unit, help, where its values are and
 * which labels they have. The walk (catalog_walk.h) reads a snapshot by it, docs/metrics.md is made
 * from it. Adding a metric is adding a row; a label, a row in catalog_labels.c.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/health.h"
#include "base/strbuf.h"
#include "export/label_cache.h"
#include "net/server/http_handler.h"
#include "snapshot/snapshot.h"

/* In a name: one family for each kind of zone the node has, for each counter, each event. */
#define FAMILY_ZONE     "<zone>"
#define FAMILY_SIGNAL   "<counter>" /* in a help text, too */
#define FAMILY_EVENT    "<event>"
#define FAMILY_NAME_MAX 96

/*
 * SCHEMA_CURRENT_ALONE is of families alone: current names that classic ones would clash with.
 * SCHEMA_OPENTELEMETRY has families of its own, and none of Kepler's parts.
 */
enum metrics_schema {
	SCHEMA_CLASSIC = 1,
	SCHEMA_CURRENT = 2,
	SCHEMA_BOTH = 3,
	SCHEMA_CURRENT_ALONE = 4,
	SCHEMA_OPENTELEMETRY = 8,
};

/* The source of a family's values, which determines its number of points. */
enum family_of {
	OF_PART,     /* the struct of a part of the program (base/health.h) */
	OF_PAGE,     /* struct catalog_view: one point, or one for each variant */
	OF_SNAPSHOT, /* struct snapshot, in the same way */
	OF_CPUS,     /* struct snapshot_cpu */
	OF_HTTP,     /* struct http_stats, in the same way; nothing without a server */
	/* struct snapshot_zone: */
	OF_ZONES,
	OF_ZONES_OF_MODELS, /* trained ones */
	OF_ZONES_IN_USE,    /* without those that another source has taken over from */
	OF_REMOTE_ZONES,    /* that are asked for over a network */
	OF_CAVEAT_ZONES,    /* that have a caveat */
	OF_ZONE_MODES,      /* one for each mode that the node has; an array by mode */
	OF_PART_MODES,      /* the same, of parts of the machine */
	OF_WHOLE_MODES,     /* the same, of the whole machine */
	OF_ZONE_REASONS,    /* one for each mode and reason that can be */
	OF_MEASURED_ZONES,  /* measured parts of the machine: the sum of where.modes */
	OF_DEVICE_ZONES,    /* its devices, in the same way */
	OF_PLATFORM_ZONES,  /* the whole machine, in the same way */
	/* For each source and mode, the sum of zones (energy/total.h): energy, or power: */
	OF_TOTALS,
	OF_UNATTRIBUTED_TOTALS, /* the power of it that no row of a container has */
	OF_PENDING, /* columns of the levels' pending: one for each level, account and mode */
	OF_LEVELS,  /* struct snapshot_table */
	/* struct snapshot_column, of each counter: */
	OF_COUNTERS,
	OF_PENDING_COUNTERS, /* its cells of the levels' pending */
	/* Rows of where.level, for each account (snapshot.h) and mode: */
	OF_ROWS,         /* counters: energy; gauges: power */
	OF_ROWS_DEVICES, /* the same, of devices */
	OF_ROW_TOTALS,   /* counters: energy, as OF_TOTALS; gauges: power */
	OF_RETIRED,      /* energy */
	OF_RETIRED_DEVICES,
	OF_ROWS_CPU, /* CPU time */
	OF_ROWS_COUNTERS,
	OF_RETIRED_COUNTERS,
	OF_PODS, /* one point for each pod with an id */
	/* Units of pods' work (struct snapshot_unit): */
	OF_UNIT_ENERGY, /* one for each source and mode, as OF_ROW_TOTALS */
	OF_UNITS,       /* its amount */
};

/* A type of value apart from enum value_type: 1 for a zone that is up, else 0. */
#define AS_ZONE_STATE 255

/* A value in what enum family_of says. */
struct where {
	uint16_t offset;
	uint8_t type;     /* enum value_type, or AS_ZONE_STATE; a double that is NaN has no point */
	uint8_t decimals; /* of an integer: µJ as joules are 6, ns as seconds 9 */
	uint8_t modes;    /* bits of enum energy_mode that are added up */
	uint8_t level;    /* enum level of rows */
};

/* One of several values of a family: the text of its label, and where it is. */
struct variant {
	const char *text; /* NULL ends the list */
	struct where where;
};

/* In the order of the alphabet, by what they show. */
enum point_label {
	POINT_LABELS_END,
	POINT_ACTIVITY_SOURCE,
	POINT_ARCH,
	POINT_BRANCH,
	POINT_CAVEAT,
	POINT_CODE, /* the text of a variant, as CUT_REASON */
	POINT_COMPONENTS_SOURCE,
	POINT_CORE_ID,
	POINT_CPU_ARCHITECTURE,
	POINT_CPU_MODEL,
	POINT_CPU_VENDOR,
	POINT_CUT_REASON,
	POINT_GPU,
	POINT_GPU_UUID,
	POINT_HOST_CPUS_SOURCE,
	POINT_HW_ID,
	POINT_HW_TYPE,
	POINT_IDLE_STATE,
	POINT_IN_TOTAL,
	POINT_KEPLER_LEVEL, /* attributes of OpenTelemetry, as POINT_HW_… */
	POINT_KEPLER_MODE,
	POINT_KEPLER_QUALITY,
	POINT_KEPLER_REASON,
	POINT_KEPLER_SCOPE,
	POINT_KEPLER_SOURCE,
	POINT_KEPLER_UNIT,
	POINT_KEPLER_ZONE,
	POINT_KERNEL,
	POINT_LEVEL,
	POINT_MODE,
	POINT_MODEL,
	POINT_MODEL_FEATURES,
	POINT_MODEL_MACHINE,
	POINT_MODEL_OUTPUT,
	POINT_NODE_NAME,
	POINT_NODE_QUALITY,
	POINT_OS,
	POINT_OS_SOURCE,
	POINT_PACKAGE,
	POINT_PATH,
	POINT_PHYSICAL_ID,
	POINT_PLATFORM_SOURCE,
	POINT_PROCESSOR,
	POINT_QOS_CLASS,
	POINT_QUALITY,
	POINT_REASON,
	POINT_REVISION,
	POINT_ROW_GPU, /* of rows, where they tell zones of a kind apart */
	POINT_ROW_GPU_UUID,
	POINT_ROW_HW_ID,
	POINT_ROW_PACKAGE,
	POINT_ROW_PATH,
	POINT_SCOPE,
	POINT_SIGNAL,
	POINT_SOURCE,
	POINT_SOURCE_ID,
	POINT_STATE,
	POINT_UNIT,
	POINT_UNIT_NAMESPACE, /* attributes of OpenTelemetry: of the unit's pod */
	POINT_UNIT_POD,
	POINT_UNIT_POD_UID,
	POINT_VERSION,
	POINT_ZONE,
	POINT_LABEL_COUNT,
};
#define POINT_LABELS_MAX 8

struct family {
	const char *name; /* without _total and _info, which follow from the type */
	enum family_type type;
	const char *unit; /* the end of the name; "" none */
	unsigned schemas; /* enum metrics_schema, as bits */
	enum family_of of;
	struct where where;
	const enum point_label *labels; /* after the labels of a row */
	const char *help;
	const struct variant *variants; /* NULL: one value */
};

enum row_kind { ROWS_LIVING, ROWS_RETIRED };

/* The inputs of a page. */
struct catalog_view {
	const struct snapshot *snapshot;
	const struct http_stats *http; /* may be NULL */
	struct row_view rows[LEVEL_COUNT][2];
	int64_t start_ms; /* realtime of the program's start: when its own counters were born */
	bool rows_only;   /* nothing of the node, its zones or the program */
	unsigned levels; /* LEVEL_BIT() of those whose rows and pending energy are walked; 0: all */
};

/* Number @index, in the order of the page; NULL after the last. */
const struct family *catalog_at(size_t index);
/* The same, of those that are sent to receivers of OpenTelemetry. */
const struct family *catalog_opentelemetry_at(size_t index);
/* "_total", "_info" or "". */
const char *family_suffix(const struct family *family);
/* The text that replaces <zone> or <counter> in the name of each of its families. */
enum family_each { EACH_ONE, EACH_ZONE, EACH_COUNTER };
enum family_each family_each(const struct family *family);
/* The name for @one, which replaces <zone>, <counter> or <event>: cut to size, and valid. */
void family_name(const struct family *family, const char *one, char ret[FAMILY_NAME_MAX]);

/* docs/metrics.md. @part: the parts of the program by number; NULL after the last. 0 or -ENOMEM. */
int metric_reference(const struct health_part *(*part)(size_t index), struct strbuf *out);
