/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kinds of RAPL's energy this machine has a meter for, by whichever way it can be read, so
 * that an exporter's zones can be questioned that have none.
 */
#pragma once

#include "truth/truth_meters.h"

struct truth_inventory {
	char kinds[TRUTH_ZONES_MAX][TRUTH_KIND_MAX];
	size_t count;
	bool has_other; /* other devices that measure power or energy, whatever of */
};

/* 0 or -ENOMEM. */
int truth_inventory_make(const struct truth_options *options, struct truth_inventory *ret);
bool truth_inventory_has(const struct truth_inventory *inventory, const char *kind);
