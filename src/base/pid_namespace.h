/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this process counts pids as the machine does. */
#pragma once

#include <stdbool.h>

/*
 * Whether this process is in a pid namespace of its own, as a container without the host's: its
 * /proc and the kernel's iterator over tasks show a part of the machine then. Where that cannot be
 * told (no /proc), false.
 */
bool pid_namespace_is_own(void);
