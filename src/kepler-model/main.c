// SPDX-License-Identifier: Apache-2.0
/* Power models, on a workstation or a server. No command exists yet: the table is empty. */
#include "options/program.h"

static const struct program kepler_model = {
	.name = "kepler-model",
	.about = "Power models: how many watts a machine draws, from what it does. This version "
		 "has no\n"
		 "command yet: it prints this help and its version, and does nothing else.",
};

int main(int argc, char **argv)
{
	return program_main(&kepler_model, argc, argv);
}
