// SPDX-License-Identifier: Apache-2.0
/*
 * How right is an exporter of energy? Its judge shares no code of metering or attribution with what
 * it judges. Each command is a function in a file of its own.
 */
#include "base/macro.h"
#include "kepler-validator/compare_command.h"
#include "kepler-validator/judge_command.h"
#include "kepler-validator/noise_command.h"
#include "kepler-validator/run_command.h"
#include "kepler-validator/run_options.h"
#include "options/program.h"

static const struct command commands[] = {
	{ .name = "judge",
	  .run = judge_main,
	  .summary = "judge one series by another, from files",
	  .what = "Compares the energies, the delay, the scale, the offset and the shape of two "
		  "series, and names the cause\nof a difference. Exits with status 0 only if the "
		  "verdict is \"pass\"; 1: fail; 2: wrong usage, or a file that\ncannot be read; "
		  "3: "
		  "inconclusive, or nothing to judge. Options:",
	  .options = &judge_options },
	{ .name = "run",
	  .run = run_main,
	  .summary = "judge exporters by this machine's own meters",
	  .what = "Runs loads, reads this machine's meters and the exporters' pages meanwhile, "
		  "and judges whether\nthe exporters are right. Exits with status 0 only if the "
		  "verdict is \"pass\"; 1: fail; 2: wrong usage, or\na load that cannot be "
		  "started; 3: inconclusive, or nothing to judge. Options:",
	  .options = &run_command_options },
	{ .name = "noise",
	  .run = noise_main,
	  .summary = "measure the noise of this machine's energy counters",
	  .what = "Reads this machine's energy counters every --interval, without and with a load, "
		  "and reports how often\nthey change, in which steps, and how much power varies "
		  "over 1, 10, 100 ms and 1 s. Exits with status 0;\n2: wrong usage, or no counter "
		  "that can be read; 3: it was interrupted. Options:",
	  .options = &noise_options },
	{ .name = "compare",
	  .run = compare_main,
	  .summary = "compare a report with an earlier one",
	  .what = "Compares two reports (report.json, or the folder of --output), the earlier one "
		  "first. Exits with status 0\nif no result is worse; 1: one is; 2: wrong usage, "
		  "or a "
		  "report that cannot be read; 3: nothing can be\ncompared. Options:",
	  .operands = "A B",
	  .options = &compare_options },
};

static const struct program kepler_validator = {
	.name = "kepler-validator",
	.about = "Judges how accurate an exporter of energy metrics is.",
	.commands = commands,
	.count = ARRAY_SIZE(commands),
};

int main(int argc, char **argv)
{
	return program_main(&kepler_validator, argc, argv);
}
