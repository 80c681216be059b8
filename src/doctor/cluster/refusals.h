/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of this doctor that were not answered as asked, among the facts. */
#pragma once

#include "doctor/cluster/api_client.h"

/* Adds @refusal with the answer's status and reason, and @ns ("": all), up to the limit. */
void refusal_add(struct cluster_facts *facts, const struct cluster_refusal *refusal, const char *ns,
		 const struct api_answer *answer);
