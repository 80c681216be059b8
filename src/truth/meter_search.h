/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of a machine are meters. Each search adds what it finds to @truth. */
#pragma once

#include <stdbool.h>

#include "truth/truth_meters.h"

/*
 * The zones of powercap: package-N, core, uncore, dram and psys. The memory-mapped interface shows
 * the same packages a second time and is left out.
 */
void search_rapl_sysfs(const char *sysfs, struct truth *truth);
/* @acpi: only the ACPI power meter, else all but that and GPUs. */
void search_hwmon(const char *sysfs, bool acpi, struct truth *truth);
void search_hwmon_gpus(const char *sysfs, struct truth *truth);
void search_file(const char *path, struct truth *truth);
