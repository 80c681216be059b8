/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the API server for the facts about a cluster. Nothing is changed: GET, and POST of access
 * reviews only.
 */
#pragma once

#include "doctor/cluster/api_client.h"

/*
 * Fills @facts, which is zero. A refusal by the server is a fact, too. 0; -errno with a diagnosis
 * if the server does not answer at all, or without memory.
 */
int cluster_read(struct api_client *client, struct cluster_facts *facts, struct diag *diag);
