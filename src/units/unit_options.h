/* SPDX-License-Identifier: Apache-2.0 */
/* --units.…: units of work, and where they are counted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/unit_accounts.h"
#include "options/option_set.h"

struct units_options {
	char *rules[UNITS_MAX]; /* unit_rule.h */
	size_t rule_count;
	uint64_t refresh_ns;
	char *key_file, *ca_file; /* of a Prometheus; "" none */
};

const struct option_section *units_options_at(size_t index);
/* The @index-th file that is read, "" if it is not used; NULL after the last. */
const char *units_file_at(const struct units_options *options, size_t index);
/* 0, or -EINVAL with a diagnosis: two rules of one name, a key without a https:// URL. */
int units_options_check(const struct units_options *options, struct diag *diag);
/* Does any rule read pods, so that their addresses are needed? */
bool units_need_pods(const struct units_options *options);
