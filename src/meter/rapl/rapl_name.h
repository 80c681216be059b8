/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents of a powercap zone's `name` file (Documentation/power/powercap/powercap.rst,
 * drivers/powercap/intel_rapl_common.c): "package-0", "package-1-die-0", "psys", "psys-1", and
 * below a package "core", "uncore", "dram". Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "energy/zone.h"
#include "host/topology.h"

struct rapl_name {
	enum zone_kind kind;
	bool has_package; /* the name itself carries the package; else it is the parent's */
	char package[ZONE_INSTANCE_MAX];
};

/* false when @text (with or without a trailing newline) names no zone that we know. */
bool rapl_name_parse(const char *text, size_t len, struct rapl_name *ret);

/*
 * The instance of a zone of @kind, by its place, as powercap names it: "1", or "1-die-0" where
 * packages have counters for each of their dies. A psys is the package's in any case.
 */
void rapl_zone_instance(enum zone_kind kind, const struct cpu_place *place, bool is_by_die,
			char ret[ZONE_INSTANCE_MAX]);

/*
 * True if the zone directory @name belongs to the memory-mapped interface, which shows the package
 * of the MSR interface a second time (and limits it separately).
 */
bool rapl_dir_is_mmio(const char *name);

/*
 * Writes the directory name of the parent zone: "intel-rapl:0:1" → "intel-rapl:0"; false for a top
 * zone.
 */
bool rapl_dir_parent(const char *name, char *buf, size_t size);
