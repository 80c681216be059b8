/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which drivers of character devices the kernel has, by PROCFS/devices: whether a kind of device
 * can be here at all, without a look into sysfs, which may hang.
 */
#pragma once

#include <stdbool.h>

/* Whether a driver of that name ("drm") is there. False where that cannot be read. */
bool char_driver_is_loaded(const char *procfs, const char *name);
