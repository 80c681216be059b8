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

struct rapl_name {
	enum zone_kind kind;
	bool has_package; /* the name itself carries the package; else it is the parent's */
	char package[ZONE_INSTANCE_MAX];
};

/* false when @text (with or without a trailing newline) names no zone that we know. */
bool rapl_name_parse(const char *text, size_t len, struct rapl_name *ret);

/*
 * Whether the zone directory @name is of the memory-mapped interface, which shows the package of
 * the MSR interface a second time (and limits it separately).
 */
bool rapl_dir_is_mmio(const char *name);

/*
 * Writes the directory name of the parent zone: "intel-rapl:0:1" → "intel-rapl:0"; false for a top
 * zone.
 */
bool rapl_dir_parent(const char *name, char *buf, size_t size);
