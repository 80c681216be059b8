/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may the service accounts of Kepler do? Answered by the API server itself: a
 * SubjectAccessReview, or, for a user that may not make one, a SelfSubjectAccessReview if that user
 * is the service account.
 */
#pragma once

#include "doctor/cluster/api_client.h"

/* Fills facts->rights; an answer that cannot be had is unknown, and a refusal. 0 or -ENOMEM. */
int account_rights_read(struct api_client *client, struct cluster_facts *facts);
