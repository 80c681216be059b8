/* SPDX-License-Identifier: Apache-2.0 */
/* The source rapl-sysfs: RAPL's counters in the powercap folder of sysfs. */
#pragma once

struct meter_ops;
extern const struct meter_ops rapl_sysfs_meter;
