/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of owners: bounded, and different for different owners. Pure. */
#pragma once

#include <stddef.h>

#include "workload/cgroup/cgroup_path_part.h"

/*
 * Writes PREFIX NAME SUFFIX to @buf[size] (size > 64, suffix shorter than 64). A name that is too
 * long is cut and then ends in a hash of the whole name before the suffix, so that two long names
 * with the same beginning stay different.
 */
void owner_key(char *buf, size_t size, struct part prefix, struct part name, const char *suffix);
