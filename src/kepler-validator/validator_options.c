// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/validator_options.h"

#include "base/macro.h"

const struct option_program validator_program = {
	.name = "kepler-validator",
	.prefix = "KEPLER_VALIDATOR_",
	.default_file = "",
	.reference_head = "",
};

static const struct option rows[] = {
	{ "config.file", NULL, OPTION_STRING, .offset = offsetof(struct option_values, file),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true, .not_in_file = true,
	  .help = "YAML file with options of this command." },
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

const struct option_set validator_options = {
	.program = &validator_program,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct option_values),
};
