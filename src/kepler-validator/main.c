// SPDX-License-Identifier: Apache-2.0
/*
 * How right is an exporter of energy? Its judge shares no code with what it judges: of the rooms it
 * links base, options and net alone. No command exists yet: the table is empty.
 */
#include "options/program.h"

static const struct program kepler_validator = {
	.name = "kepler-validator",
	.about = "How right an exporter of energy is, judged independently of it. This version has "
		 "no\n"
		 "command yet: it prints this help and its version, and does nothing else.",
};

int main(int argc, char **argv)
{
	return program_main(&kepler_validator, argc, argv);
}
