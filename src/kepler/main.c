// SPDX-License-Identifier: Apache-2.0
/* The exporter: its commands, each a function in a file of its own. */
#include "base/macro.h"
#include "kepler/config.h"
#include "kepler/config_command.h"
#include "kepler/doctor.h"
#include "kepler/explain.h"
#include "kepler/monitor.h"
#include "kepler/record.h"
#include "kepler/replay.h"
#include "options/program.h"

static const struct command commands[] = {
	{ "run", monitor_main, "[run] [OPTION]...", "measure and serve",
	  .what = "Measures and serves.", .options = &config_options },
	{ "doctor", doctor_main, "doctor [--json]",
	  "what this machine has, what is missing, and how to get it",
	  .what = "Says what this machine has, what is missing, and how to get it. Takes the "
		  "options of run\n"
		  "(kepler --help), and:",
	  .options = &doctor_options },
	{ "explain", explain_main, "explain PID|COMMAND|CONTAINER|POD [--json]",
	  "how the numbers of the last interval came about",
	  .operands = "PID|COMMAND|CONTAINER|POD",
	  .what = "Asks the exporter that runs on this machine how its numbers came about: what "
		  "it read,\n"
		  "by which rule it shared that, and what it charged to a process, container, "
		  "systemd unit,\n"
		  "pod, virtual machine or namespace, with the arithmetic of the interval that "
		  "ends next.\n"
		  "Takes the options of run (kepler --help), of which web.listen-address says "
		  "where to ask,\nand:",
	  .options = &explain_options },
	{ "record", record_main, "record FILE [--duration=DURATION]",
	  "keep what was measured, for replay", .operands = "FILE",
	  .what = "Measures as run does, serves nothing, and writes all that the attribution of "
		  "energy depends\n"
		  "on to FILE, which must not exist. Takes the options of run (kepler --help), of "
		  "which\n"
		  "record.anonymize removes names, and:",
	  .options = &record_options },
	{ "replay", replay_main, "replay FILE...", "book what was recorded again",
	  .operands = "FILE...",
	  .what = "Books recordings of kepler record, or of --record.dir, again, in the order "
		  "given, and prints\n"
		  "what each container or process used. Options of run that decide how energy is "
		  "shared (idle.…,\n"
		  "gpu.idle) are those that were recorded, but for those that are given here. "
		  "Takes also:",
	  .options = &replay_options },
	{ "config", config_command_main, "config COMMAND",
	  "the configuration:", .more = config_command_usage, .operands = "COMMAND [ARGUMENT]...",
	  .what = "Reads and prints the configuration; nothing is measured. Commands:" },
};

static const struct program kepler = {
	.name = "kepler",
	.about = "Measures energy per process and service, as Prometheus metrics.",
	.commands = commands,
	.count = ARRAY_SIZE(commands),
	.unnamed = &commands[0],
};

int main(int argc, char **argv)
{
	return program_main(&kepler, argc, argv);
}
