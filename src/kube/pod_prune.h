/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves out of a pod's text what nothing here reads, before it is parsed: a parsed tree costs ten
 * times what a look at its text does, and most of a pod is managed fields, environment, volumes
 * and probes. Pure.
 */
#pragma once

#include <stddef.h>

/*
 * Writes @text to @out (room for @len bytes) with the value of each member that has one of
 * the known unread keys replaced by 0, if that value is an object or an array. So a label
 * "env":"prod" stays: labels are strings. Returns the new length. Text that is no JSON stays none.
 */
size_t pod_prune(const char *text, size_t len, char *out);
