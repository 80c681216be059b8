/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views of the node's power that pages and `kepler top` show: each level of rows
 * (level_info.h), and groupings of rows that are made only while a client asks for them, so that
 * the ledger and the pages of metrics know nothing of them.
 *
 * A service is a systemd unit. A user is the real user of processes. A GPU, or another accelerator,
 * has the energy of its zone that was charged. In each view, rows and the energy that is in none of
 * them add up, with idle and unattributed power, to the node.
 */
#pragma once

#include "attribution/level_info.h"

/* The first views are the levels, with the same numbers. */
enum view { VIEW_SERVICE = (int)LEVEL_COUNT, VIEW_USER, VIEW_GPU, VIEW_COUNT };
#define VIEW_GROUPINGS VIEW_SERVICE /* the first of them */

/* "pod", "service": of questions, and of options. */
const char *view_name(unsigned view);
extern const struct option_choice view_choices[VIEW_COUNT + 1];
