/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cards in /sys/class/drm, their boards, and the sensor of a board. A GPU that is a
 * part of the processor has no sensor here: amdgpu reports the power of a whole APU, CPU included,
 * which is in "package" already; i915 and xe report no energy for one.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meter/meter.h"

struct drm_sensor {
	const char *driver, *file;
	enum sample_kind kind;
};

/* True if @name is @prefix and the minor of the device file; "card0-DP-1" is a connector. */
bool drm_is_node(const char *name, const char *prefix, uint32_t *ret_minor);
/* True for "card0"; render nodes belong to the same boards. */
bool drm_is_card(const char *name);
/* The path of the board of @card in the tree of devices, and its driver; false: it has none. */
bool drm_find_device(const char *class_path, const char *card, char ret_path[PATH_MAX],
		     char *ret_driver, size_t driver_size);
/* The board's PCI address, the last part of its path. */
const char *drm_address(const char *device_path);
bool drm_knows_driver(const char *driver);
/* The board's hwmonN with a sensor, as a path that is given; NULL: there is none. */
char *drm_find_hwmon(const char *device_path, const char *driver,
		     const struct drm_sensor **ret_sensor);
/* True if a card has a driver that is known and, with @needs_sensor, a sensor of a board. */
bool drm_has_card(const char *sysfs, bool needs_sensor);
