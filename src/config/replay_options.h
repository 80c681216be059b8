/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that decide how energy is booked: a recording has their values, and a replay takes them
 * from there, but for those that its command line gives.
 */
#pragma once

#include "base/strbuf.h"
#include "config/config.h"

/* Appends a record for each of them. */
void replay_options_tell(const struct config *config, struct strbuf *out);
/* Whether @name is one. */
bool replay_options_has(const char *name);
