/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that decide how energy is booked: a recording has their values, and a replay takes them
 * from there, except for options on its command line.
 */
#pragma once

#include "base/strbuf.h"
#include "config/config.h"

/* Appends a record for each of them. */
void replay_options_tell(const struct config *config, struct strbuf *out);
/* True if @name is one of these options. */
bool replay_options_has(const char *name);
