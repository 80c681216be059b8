/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the page of each pod of Kepler that runs, through the API server's proxy of pods, some at a
 * time.
 */
#pragma once

#include "doctor/cluster/api_client.h"

/*
 * Fills the pages of @facts. Uses up to PAGE_THREADS connections, and stops at client->end_ns and
 * at a limit of bytes; facts->pages_too_late counts pages that were not asked. If the server
 * refuses its proxy, this is a refusal, and the rest is not asked. 0 or -errno (no memory, no
 * thread).
 */
int page_reader_run(const struct api_client *client, struct cluster_facts *facts);
