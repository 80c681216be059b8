/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes have devices of a kind open, from the kernel itself: a BPF iterator over all open
 * files (bpf/open_devices.bpf.c, from 5.8). It takes no privilege after it has been opened, sees
 * the files of all users, and devices under any name; in a pid namespace of its own only what is in
 * there. Without it /proc is searched (host/open_devices.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "host/open_devices.h"

struct open_device_finder;

/*
 * Loads the program, for devices of these major numbers. 0 or -errno: this kernel, or the
 * privileges of this process, do not allow it.
 */
int open_device_finder_open(const uint32_t *majors, size_t major_count,
			    struct open_device_finder **ret);
void open_device_finder_close(struct open_device_finder *finder);
/* As open_devices_search(), on any thread, but one at a time. */
int open_device_finder_search(struct open_device_finder *finder, struct open_device *list,
			      size_t max, struct open_devices *ret);
