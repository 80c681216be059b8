// SPDX-License-Identifier: Apache-2.0
/* The exporter: its commands, each a function in a separate file. */
#include "base/macro.h"
#include "config/config.h"
#include "doctor/doctor.h"
#include "kepler/config_command.h"
#include "kepler/explain.h"
#include "kepler/profile/profile_command.h"
#include "kepler/record.h"
#include "kepler/run.h"
#include "kepler/stat/stat.h"
#include "kepler/top/top.h"
#include "kepler/vm_energy.h"
#include "options/program.h"
#include "replay/replay.h"

static const struct command commands[] = {
	{ "run", run_main, "measure and serve", .what = "Measures and serves.",
	  .options = &config_options },
	{ "doctor", doctor_main, "show what this machine has, what it lacks and how to fix it",
	  .what = "Shows what this machine has, what it lacks and how to fix it. Takes the "
		  "options of run\n(kepler help all), and:",
	  .options = &doctor_options },
	{ "top", top_main, "show the power of each workload now, on the terminal",
	  .what = "Shows the power of processes, containers, pods, VMs and namespaces, once a "
		  "second. The\nreadings come from the exporter on this machine (local.socket) or, "
		  "without one, from root's own\nmeasurement. Takes the options of run (kepler "
		  "help all), and:",
	  .options = &top_options },
	{ "stat", stat_main, "measure the energy of one command",
	  .operands = "[--] COMMAND [ARGUMENT]...", .options_first = true, .words = "",
	  .what = "Runs COMMAND and prints the energy that it and all of its descendants used, as "
		  "perf\nstat prints events. The exit status is the command's. Takes the options "
		  "of run (kepler\nhelp all), and:",
	  .options = &stat_options },
	{ "profile", profile_main, "show which functions used the energy", .options_first = true,
	  .operands = "[-- COMMAND [ARGUMENT]...]", .words = "",
	  .what = "Samples the stacks of a command, a process, a container, a pod or the machine, "
		  "and\nwrites each stack with its energy in microjoules, for flame graphs. The "
		  "energy of a process is\ndivided over its samples, to the microjoule. Needs "
		  "root. "
		  "The exit status is the command's. Takes the\noptions of run (kepler help all), "
		  "and one of --pid, --container, --pod and --all, or a command:",
	  .options = &profile_options },
	{ "explain", explain_main, "explain the numbers of the last interval",
	  .operands = "PID|COMMAND|CONTAINER|POD", .words = "",
	  .what = "Asks the exporter on this machine how it computed its numbers: the energy that "
		  "it read,\nthe rule by which it shared it, and the energy that it charged to a "
		  "process, container, systemd unit,\npod, virtual machine or namespace, with the "
		  "arithmetic of the interval that ends next.\nTakes the options of run (kepler "
		  "help all); web.listen-address is the exporter's address.\nAlso takes:",
	  .options = &explain_options },
	{ "vm-energy", vm_energy_main, "print the joules of a virtual machine",
	  .what = "Prints the energy of a virtual machine since the start of its series, from "
		  "its file in\npassthrough.dir, in joules. Takes the options of run (kepler "
		  "help all), and:",
	  .options = &vm_energy_options },
	{ "record", record_main, "record measurements for replay", .operands = "FILE",
	  .what = "Measures like run, but serves nothing and writes all input to the attribution "
		  "of energy\nto FILE, which must not exist. Accepts the options of run (kepler "
		  "help all), among which\nrecord.anonymize removes names, and:",
	  .options = &record_options },
	{ "replay", replay_main, "repeat the accounting of recordings with other options",
	  .operands = "FILE...",
	  .what = "Repeats the accounting of recordings that kepler record or --record.dir made, "
		  "in the order given, and prints what each container or process used. Options of "
		  "run that decide how energy is shared (idle.…, gpu.idle) have the values of the "
		  "recording, unless they are given here. Also takes:",
	  .options = &replay_options },
	{ "config", config_command_main, "check, show, import and document the configuration",
	  .more = config_command_usage, .words = "check show needs sample schema import",
	  .operands = "COMMAND [ARGUMENT]...",
	  .what = "Reads and prints the configuration; nothing is measured. Commands:" },
};

static const struct common_option common[] = {
	{ "web.listen-address", "where to serve (:28282: all addresses)" },
	{ "web.allowed-hosts", "another name that scrapers use" },
	{ "monitor.interval", "time between readings (1s)" },
	{ "metrics.schema", "metric names: classic, current or both" },
	{ "meters", "which meters to read (auto)" },
	{ "idle.share", "how idle energy is shared (node: not at all)" },
	{ "kube.kubeconfig", "where to get the names of pods" },
	{ "config.file", "options as YAML (/etc/kepler/kepler.yaml)" },
	{ "table", "live table: auto, always or never" },
	{ "log.level", "debug, info, warn or error (info)" },
	{ NULL, NULL },
};

#define TOP "kepler top shows the power of processes"

static const struct command_hint hints[] = {
	{ "watch", TOP },
	{ NULL, NULL },
};

static const struct program kepler = {
	.name = "kepler",
	.about = "Measures energy per process and service, as Prometheus metrics.",
	.commands = commands,
	.count = ARRAY_SIZE(commands),
	.unnamed = &commands[0],
	.common = common,
	.hints = hints,
	.example = "  sudo kepler --web.listen-address=:28282 --monitor.interval=5s\n",
};

int main(int argc, char **argv)
{
	return program_main(&kepler, argc, argv);
}
