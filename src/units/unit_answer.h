/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of a Prometheus to a query of a range of one moment, as the values of pods: the labels
 * namespace and pod of a series name its pod. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "units/unit_targets.h"

#define UNIT_ANSWER_MAX (4U << 20) /* bytes */

/* The pods of the node: of the others nothing is kept. [count], in ascending order. */
struct unit_pods {
	uint64_t *hashes; /* unit_pod_hash() */
	size_t count, size;
};

uint64_t unit_pod_hash(const char *namespace_, const char *pod);

/* "URL/api/v1/query_range?query=…" for @now_s. 0 or -ENOSPC. */
int unit_answer_url(const struct unit_rule *rule, int64_t now_s, char *buf, size_t size);
/*
 * Puts the values into targets of @unit, and ends their reading. 0, or -errno with a
 * diagnosis: none of these has been read.
 */
int unit_answer_read(const char *text, size_t len, uint32_t unit, const struct unit_pods *pods,
		     struct unit_targets *targets, struct diag *diag);
