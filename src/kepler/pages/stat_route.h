/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page at /api/v1/stat, for `kepler stat` over the local socket: ?do=begin follows what the
 * peer starts from now on, ?do=read answers with its energy (tree_page.h), ?do=end ends that. 202:
 * ask again soon. The peer is the process that connected, as the kernel has recorded it: no client
 * can ask about processes of others.
 *
 * A peer that sees its own processes only is answered once per second, after the usual intervals,
 * and in steps of 1 mJ.
 */
#pragma once

#include "kepler/pages/viewer.h"
#include "net/server/http_handler.h"
#include "stat/stat_desk.h"

/* @viewer sees its own processes, or all. */
void stat_route_answer(struct stat_desk *desk, const struct viewer *viewer,
		       struct viewer_times *times, const struct http_request *request,
		       struct http_response *response);
