/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning of a series of a known exporter: the level, the zone and the unit of its energy.
 * Names are taken from the exporters' own documentation. CPU time is a zone called "cpu", in s
 * instead of J.
 */
#pragma once

#include <stdbool.h>

#include "evidence/pages/page.h"

#define ENERGY_ZONE_MAX 32

enum exporter_kind {
	EXPORTER_UNKNOWN,
	EXPORTER_NODE_EXPORTER, /* its collector of RAPL */
	EXPORTER_KEPLER_C,
	EXPORTER_KEPLER_CLASSIC, /* up to 0.9 */
	EXPORTER_KEPLER,         /* from 0.10 on */
	EXPORTER_SCAPHANDRE,
	EXPORTER_ALUMET,
	EXPORTER_KINDS,
};

enum energy_level {
	ENERGY_NODE,
	ENERGY_NODE_ACTIVE, /* of the node: what rows share, if it has a series */
	ENERGY_PROCESS,
	ENERGY_CONTAINER,
	ENERGY_POD,
	ENERGY_VM,
	ENERGY_NAMESPACE,
	ENERGY_LEVELS,
};

/* The part of a level's energy that a series adds. */
enum energy_part {
	ENERGY_ROW,
	ENERGY_GONE,         /* rows that are not shown any more, or not yet */
	ENERGY_UNATTRIBUTED, /* of the node: it belongs to every level */
};

struct energy_metric {
	enum energy_level level;
	enum energy_part part;
	char zone[ENERGY_ZONE_MAX];
	double unit;        /* J or s of 1 on the page; of a power W */
	bool is_power;      /* a gauge in W */
	bool is_difference; /* a gauge that has the energy of one interval of the exporter */
};

/* EXPORTER_UNKNOWN: this metric alone does not show it. The highest of a page's metrics is it. */
enum exporter_kind exporter_kind_of(const char *metric);
const char *exporter_kind_name(enum exporter_kind kind);
/* It has no interval of its own: it reads its meters for each page. */
bool exporter_reads_when_asked(enum exporter_kind kind);
/* The exporter that has this metric also on a page without energy; or EXPORTER_UNKNOWN. */
enum exporter_kind exporter_kind_hint(const char *metric);
/* False: the series is neither energy nor CPU time, or it is in others of the page as well. */
bool energy_metric_find(enum exporter_kind kind, const struct page_series *series,
			struct energy_metric *ret);
const char *energy_level_name(enum energy_level level);
