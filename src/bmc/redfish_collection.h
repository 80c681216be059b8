/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All members of a Redfish collection, page by page (DSP0266 §7.3: "Members@odata.nextLink").
 *
 * A collection with unknown members is not an error; left_out and why describe it. This happens if
 * a later page cannot be read, is at another address, or leads back to pages that were read; if
 * there are more pages or members than are read; and if the service reports more members than it
 * lists.
 */
#pragma once

#include "base/diag.h"
#include "bmc/redfish_answer.h"
#include "bmc/redfish_client.h"

#define REDFISH_PAGES_MAX 32

/* 0; or as redfish_client_get() of the first page, or of any where no other path is to be asked. */
int redfish_collection_read(struct redfish_client *client, const struct redfish_path *collection,
			    struct redfish_members *ret, struct diag *diag);
