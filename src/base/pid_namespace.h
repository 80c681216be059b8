/* SPDX-License-Identifier: Apache-2.0 */
/* Returns true if this process counts pids as the machine does. */
#pragma once

#include <stdbool.h>

/*
 * True if this process is in a pid namespace other than the host's, as in a container: its /proc
 * and the kernel's iterator over tasks then show only a part of the machine. False where that
 * cannot be determined (no /proc).
 */
bool pid_namespace_is_own(void);
