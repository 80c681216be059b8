/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes unused parts from a pod's text before it is parsed: a parsed tree costs ten times as much
 * as a pass over its text, and most of a pod is managed fields, environment, volumes and probes.
 * Pure.
 */
#pragma once

#include <stddef.h>

/*
 * Writes @text to @out (room for @len bytes) with the value of each member that has one of the
 * known unread keys replaced by 0, if that value is an object or an array. So a label "env":"prod"
 * stays: labels are strings. Returns the new length. Invalid JSON stays invalid.
 */
size_t pod_prune(const char *text, size_t len, char *out);
