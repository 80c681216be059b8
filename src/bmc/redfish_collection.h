/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All members of a Redfish collection, page by page (DSP0266 §7.3: "Members@odata.nextLink").
 *
 * A collection of which not all members are known is no error, and says so: left_out and why. So it
 * is where a later page cannot be read, is at another address, or leads back to pages that were
 * read; where there are more pages or members than are read; and where the service says that it has
 * more members than it lists.
 */
#pragma once

#include "base/diag.h"
#include "bmc/redfish_answer.h"
#include "bmc/redfish_client.h"

#define REDFISH_PAGES_MAX 32

/* 0; or as redfish_client_get() of the first page, or of any where no other path is to be asked. */
int redfish_collection_read(struct redfish_client *client, const struct redfish_path *collection,
			    struct redfish_members *ret, struct diag *diag);
