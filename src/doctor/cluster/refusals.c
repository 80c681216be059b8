// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/refusals.h"

#include <stdio.h>

void refusal_add(struct cluster_facts *facts, const struct cluster_refusal *refusal, const char *ns,
		 const struct api_answer *answer)
{
	struct cluster_refusal *new;

	if (facts->refusal_count == CLUSTER_REFUSALS_MAX)
		return;
	new = &facts->refusals[facts->refusal_count++];
	*new = *refusal;
	new->status = answer->status;
	(void)snprintf(new->ns, sizeof(new->ns), "%s", ns);
	(void)snprintf(new->message, sizeof(new->message), "%s", answer->error);
}
