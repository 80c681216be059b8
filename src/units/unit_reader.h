/* SPDX-License-Identifier: Apache-2.0 */
/* One round of readings: each rule's pods, or its Prometheus. Belongs to the units' thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "net/http_client.h"
#include "units/unit_answer.h"
#include "units/unit_health.h"
#include "units/unit_options.h"
#include "units/unit_page.h"
#include "units/unit_targets.h"

struct unit_reader {
	struct unit_rule rules[UNITS_MAX];
	uint32_t rule_count;
	char *key_file, *ca_file;
	int cancel_fd;
	struct pod_addresses *addresses; /* NULL: no rule reads pods */
	struct pod_address *pods;        /* [POD_ADDRESSES_MAX], scratch; NULL without addresses */
	uint64_t pods_beyond;
	struct http_client *pod_client, *query_client; /* NULL: not needed */
	struct unit_targets targets;
	struct unit_pods here; /* of the node, for answers */
	struct unit_page page;
	/* The results of the round, by rule: */
	struct unit_health round[UNITS_MAX];
};

/* 0, or -errno with a diagnosis; to be closed in either case. */
int unit_reader_open(struct unit_reader *reader, const struct units_options *options, int cancel_fd,
		     struct diag *diag);
void unit_reader_close(struct unit_reader *reader);
/* 0; -ECANCELED. */
int unit_reader_round(struct unit_reader *reader);
