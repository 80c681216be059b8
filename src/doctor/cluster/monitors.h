/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would a PodMonitor or ServiceMonitor of the Prometheus operator scrape, and which Prometheus
 * takes it (prometheus-operator, Documentation/api-reference/api.md)? A monitor may cover pods of
 * many programs: it is one of Kepler's only by an endpoint that has the port and the path of
 * Kepler. Pure.
 */
#pragma once

#include "doctor/cluster/cluster_facts.h"

/* Perhaps: rules decide it that are not evaluated here, or objects that were not read. */
enum certainty { CERTAINLY_NOT, PERHAPS, CERTAINLY };

/* The two kinds of monitors, and where each part of them is. */
struct monitor_kind {
	const char *name, *plural; /* "PodMonitor", "podmonitor" as kubectl has it */
	const char *endpoints, *selector, *namespace_selector;
	bool of_services;
};
enum { POD_MONITOR, SERVICE_MONITOR, MONITOR_KINDS };
extern const struct monitor_kind monitor_kinds[MONITOR_KINDS];

struct monitor {
	const struct monitor_kind *kind;
	const json_t *object;
};

const char *object_name(const json_t *object);
const char *object_namespace(const json_t *object);
/* Does it select the pods of the DaemonSet, or a Service of them, whatever it scrapes there? */
bool monitor_selects(const struct cluster_facts *facts, const struct cluster_daemonset *set,
		     const struct monitor *monitor);
/* Would that endpoint of it scrape the pages of Kepler? The monitor selects the DaemonSet. */
enum certainty endpoint_scrapes(const struct cluster_facts *facts,
				const struct cluster_daemonset *set, const struct monitor *monitor,
				const json_t *endpoint);
/* The most that any of its endpoints does. */
enum certainty monitor_scrapes(const struct cluster_facts *facts,
			       const struct cluster_daemonset *set, const struct monitor *monitor);
/* A rule of the monitor may discard series of Kepler after a scrape. */
bool monitor_discards(const struct monitor *monitor);
/* Was it written for Kepler? By its name, or what it selects. */
bool monitor_is_for_kepler(const struct monitor *monitor);
/* The name of a port of an endpoint that neither the pod nor a Service has; NULL: there is none. */
const char *monitor_missing_port(const struct cluster_facts *facts,
				 const struct cluster_daemonset *set,
				 const struct monitor *monitor);
/* Does the Prometheus or PrometheusAgent take the monitor for that DaemonSet? */
enum certainty prometheus_takes(const struct cluster_facts *facts,
				const struct cluster_daemonset *set, const json_t *prometheus,
				const struct monitor *monitor);
/* May the pods be scraped by other means: an annotation, or a configuration of its own? */
bool is_scraped_otherwise(const struct cluster_facts *facts, const struct cluster_daemonset *set);
