/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes have device files open, for meters (meter/drm/device_files.h). They are found by
 * BPF where that can be loaded, else in /proc by the helper (service/fdinfo_helper.h), which also
 * opens their fdinfo.
 */
#pragma once

#include "base/diag.h"
#include "config/config.h"
#include "meter/drm/device_files.h"

struct device_holders;

/*
 * Starts the helper. Whether this machine needs it is in sysfs, which may hang: nothing looks there
 * yet. Without meters, and in a pid namespace of its own, whose /proc is not the machine's, there
 * is none, and *ret is NULL. Call it before Landlock is entered and any thread is started. 0, or
 * -errno with a diagnosis.
 */
int device_holders_start(const struct config *config, struct device_holders **ret,
			 struct diag *diag);
/*
 * Ends the helper where this configuration and machine do not need it (NEED_DEVICE_USERS); else
 * loads the BPF program, while privileges are held: without it /proc is searched.
 */
void device_holders_load(struct device_holders *holders, const struct config *config);
/* For struct meter_options; NULL: there is no helper. */
struct device_files *device_holders_files(struct device_holders *holders);
/* Drops the owner's reference. */
void device_holders_release(struct device_holders *holders);
