/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a report must not contain: of this machine, its users and its configuration. */
#pragma once

#include "base/strbuf.h"
#include "config/config.h"
#include "doctor/redaction.h"

/*
 * Knows the machine's own names, its users and their homes, and every text that was configured;
 * configured roots are shown as /sys, /proc and so on. NULL without memory.
 */
struct redaction *report_names_new(const struct config *config);
/*
 * The options that were given, a line each. Numbers, choices and what can only be a word of
 * Kepler's are shown; of other texts only that they were given.
 */
void report_names_show_options(const struct config *config, struct strbuf *out);
