/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule of --units.rule: the name of a unit of work, and where the counters of it are read.
 *
 *     NAME metric=COUNTER [match=LABEL=VALUE] PODS port=PORT [path=PATH]    from each pod
 *     NAME url=URL query=PROMQL                                             from a Prometheus
 *
 * Words are separated by blanks; query= takes the rest of the text. match= leaves out series of the
 * counter that do not have the label with that value (LABEL!=VALUE: those that have it). PODS are
 * words that select pods; all of them must apply, and at least one is needed:
 * namespace=NAMESPACE, label=KEY=VALUE, annotation=KEY=VALUE. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/unit_accounts.h"
#include "base/diag.h"
#include "kube/pods/pod_addresses.h"
#include "samples/series_reader.h"

#define UNIT_MATCHES_MAX 4
#define UNIT_METRIC_MAX  200
#define UNIT_LABEL_MAX   63
#define UNIT_VALUE_MAX   127
#define UNIT_PATH_MAX    127
#define UNIT_URL_MAX     255
#define UNIT_QUERY_MAX   511
#define UNIT_RULE_MAX    1023 /* bytes of its text */

struct unit_match {
	char label[UNIT_LABEL_MAX + 1];
	char value[UNIT_VALUE_MAX + 1];
	bool is_not;
};

struct unit_rule {
	char name[UNIT_NAME_MAX + 1];
	/* From pods: */
	char metric[UNIT_METRIC_MAX + 1];
	struct unit_match matches[UNIT_MATCHES_MAX];
	size_t match_count;
	struct pod_selector pods;
	uint16_t port;
	char path[UNIT_PATH_MAX + 1]; /* "/metrics" */
	/* From a Prometheus; "": from pods */
	char url[UNIT_URL_MAX + 1];
	char query[UNIT_QUERY_MAX + 1];
};

/* 0, or -EINVAL with a diagnosis. */
int unit_rule_parse(const char *text, struct unit_rule *ret, struct diag *diag);
/* Does the series count? */
bool unit_rule_matches(const struct unit_rule *rule, const struct series_labels *labels);
