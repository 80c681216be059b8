// SPDX-License-Identifier: Apache-2.0
#include "units/unit_options.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "net/http_url.h"
#include "units/unit_rule.h"

static int check_rule(const char *text, struct diag *diag)
{
	struct unit_rule rule;

	return unit_rule_parse(text, &rule, diag);
}

static const struct option rows[] = {
	{ "units.rule", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct units_options, rules, rule_count, UNITS_MAX), .default_text = "",
	  .metavar = "RULE", .check = check_rule,
	  .help = "A unit of work of pods, to divide their energy by, such as "
		  "\"requests metric=http_requests_total label=app=web port=8080\": the counter "
		  "is read from each pod that is selected by namespace=, label= and annotation=. "
		  "Or \"tokens url=http://prometheus:9090 query=PROMQL\". docs/units.md has all "
		  "words." },
	{ "units.refresh", NULL, OPTION_DURATION, OPTION_MEMBER(struct units_options, refresh_ns),
	  .default_text = "15s", .metavar = "DURATION",
	  OPTION_RANGE(NSEC_PER_SEC, 600 * NSEC_PER_SEC),
	  .help = "Time between two readings of the counters of units." },
	{ "units.key-file", NULL, OPTION_STRING, OPTION_MEMBER(struct units_options, key_file),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true,
	  .help = "File with a bearer token for the Prometheus of units.rule, readable only by "
		  "its owner. It is never sent to pods." },
	{ "units.ca-file", NULL, OPTION_STRING, OPTION_MEMBER(struct units_options, ca_file),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true,
	  .help = "CA certificates for the Prometheus of units.rule, in PEM. Empty: the "
		  "system's." },
};

const struct option_section *units_options_at(size_t index)
{
	static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

	return index < ARRAY_SIZE(sections) ? &sections[index] : NULL;
}

const char *units_file_at(const struct units_options *options, size_t index)
{
	const char *const files[] = { options->key_file, options->ca_file };

	return index < ARRAY_SIZE(files) ? files[index] : NULL;
}

bool units_need_pods(const struct units_options *options)
{
	for (size_t i = 0; i < options->rule_count; i++) {
		struct unit_rule rule;

		if (unit_rule_parse(options->rules[i], &rule, NULL) == 0 && !rule.url[0])
			return true;
	}
	return false;
}

int units_options_check(const struct units_options *options, struct diag *diag)
{
	struct unit_rule rule;
	char names[UNITS_MAX][UNIT_NAME_MAX + 1];

	for (size_t i = 0; i < options->rule_count; i++) {
		if (unit_rule_parse(options->rules[i], &rule, diag) < 0)
			return -EINVAL;
		memcpy(names[i], rule.name, sizeof(names[i]));
		for (size_t j = 0; j < i; j++) {
			if (strcmp(names[j], names[i]) == 0)
				return diag_set(diag, -EINVAL,
						"units.rule: two rules have the name \"%s\": give "
						"each unit its own",
						names[i]);
		}
		if (rule.url[0] && *options->key_file && !http_url_is_https(rule.url))
			return diag_set(diag, -EINVAL,
					"units.key-file: the token is sent over https only, and "
					"the url of %s is not",
					rule.name);
	}
	return 0;
}
