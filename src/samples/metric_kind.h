/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning of an exporter's series, from its metric's name and labels, for the classic names
 * (kepler_node_package_joules_total) and the current ones (kepler_node_cpu_joules_total{zone=…}).
 * Pure. docs/metrics.md and docs/collecting.md have the names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "samples/series_reader.h"

#define METRIC_FEATURE_MAX 64

enum metric_subject {
	METRIC_IGNORED,   /* nothing that a model is trained on */
	METRIC_POWER,     /* energy of the node, in J */
	METRIC_FEATURE,   /* a counter of an owner */
	METRIC_FREQUENCY, /* of a CPU, in Hz */
	METRIC_NODE_TYPE,
	METRIC_STEAL, /* time for which vCPUs of the node waited for its host, in s */
};

/* The level of the counters that become features. */
enum metric_level { METRIC_CONTAINER, METRIC_PROCESS, METRIC_VM, METRIC_NODE, METRIC_LEVEL_COUNT };

struct metric_kind {
	enum metric_subject subject;
	char name[METRIC_FEATURE_MAX]; /* of the feature, or of the component: "package" */
	double factor;                 /* the value is multiplied by it */
	bool is_gauge;                 /* a level: W, or a memory's size */
	/*
	 * If one thing has several names, the lowest is used: 0 the classic name, 1 the current
	 * one, 2 a gauge.
	 */
	uint8_t rank;
};

/* The kind of a metric with these labels, "__name__" among them, for features of @level. */
void metric_kind_find(const struct series_labels *labels, enum metric_level level,
		      struct metric_kind *ret);
/* Returns true if a query for all metrics of an exporter collects this name. */
bool metric_is_collected(const char *name);
/*
 * Number of the package, or of the GPU's board, of a series; 0 if its labels do not name it.
 */
uint32_t metric_package(const struct series_labels *labels);
/*
 * Returns true if @source is the source @wanted: equal, or both names that exporters have had for
 * RAPL. A series without a source matches any.
 */
bool metric_source_matches(const char *source, const char *wanted);
/* The identity of a counter's owner: ids and names, joined by "/". Cut at @size. */
void metric_owner(const struct series_labels *labels, enum metric_level level, char *ret,
		  size_t size);
