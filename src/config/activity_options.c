// SPDX-License-Identifier: Apache-2.0
#include "config/activity_options.h"

#include "activity/activity_reader.h"
#include "activity/counter_event.h"
#include "base/macro.h"
#include "config/option_rows.h"

static const struct option_choice switch_modes[] = {
	{ "auto", SWITCH_AUTO }, { "true", SWITCH_ALWAYS }, { "false", SWITCH_NEVER }, { 0 }
};
static const struct option_choice bpf_ios[] = {
	{ "off", IO_WANTED_OFF }, { "on", IO_WANTED_ON }, { "all", IO_WANTED_ALL }, { 0 }
};

#define EVENT(flag, use, what)                                                                     \
	{                                                                                          \
		"counters." flag, NULL, OPTION_STRING,                                             \
			FIELD(activity_options, switches.events[use]),                             \
			.default_text = "auto", .metavar = "EVENT", .check = counter_event_check,  \
			.help = what COUNTER_HELP                                                  \
	}
#define COUNTER_HELP                                                                               \
	" auto: the kernel's generic event; none: not counted. Otherwise an event as perf names "  \
	"it (LLC-load-misses), PMU/TERM=VALUE/, PMU:CONFIG or TYPE:CONFIG."

static const struct option bpf_rows[] = {
	{ "bpf.enabled", NULL, OPTION_BOOL, FIELD(activity_options, allow_bpf),
	  .default_text = "true",
	  .help = "Read the run times of processes with BPF where the kernel allows it. "
		  "Otherwise they are read from /proc." },
	{ "bpf.end-buffer", NULL, OPTION_SIZE, FIELD(activity_options, end_buffer_bytes),
	  RANGE(64, 65536), .default_text = "512KiB", .metavar = "SIZE",
	  .help = "Buffer for processes that end between two readings. Processes that do not fit "
		  "are counted. Their energy is charged to their cgroup if it is known; otherwise "
		  "it stays with the node as unattributed." },
	{ "bpf.io", NULL, OPTION_ENUM, FIELD(activity_options, io), .choices = bpf_ios,
	  .default_text = "off", .metavar = "WHAT",
	  .help = "Count the kernel's I/O work per container with BPF. on: network and block "
		  "softirqs, their time, and bytes (about 0.4 us a packet). all: also page-cache "
		  "hits (Linux 6.14 or later; runs a BPF program in each read() of a file)." },
};

static const struct option counter_rows[] = {
	{ "counters.enabled", NULL, OPTION_ENUM, FIELD(activity_options, switches.counters),
	  .choices = switch_modes, .default_text = "auto", .metavar = "MODE",
	  .help = "Count hardware events (cycles, instructions, cache misses) per process with "
		  "BPF. auto: count the events that can be opened at startup. true: also keep the "
		  "privilege that is needed to count on CPUs added later." },
	{ "counters.switches", NULL, OPTION_ENUM, FIELD(activity_options, switches.switches),
	  .choices = switch_modes, .default_text = "auto", .metavar = "MODE",
	  .help = "Trace context switches with BPF. Hardware counters require it; it also measures "
		  "how long a thread shares its core with another busy thread, and its exact time "
		  "on each socket. auto: only if the processor has counters." },
	EVENT("cycles", COUNTER_CYCLES,
	      "Hardware event that counts core cycles. If the kernel has no such generic event, "
	      "auto uses msr/aperf/."),
	EVENT("ref-cycles", COUNTER_REF_CYCLES,
	      "Hardware event that counts cycles at a constant frequency while the core runs. If "
	      "the kernel has no such generic event, auto uses msr/mperf/."),
	EVENT("instructions", COUNTER_INSTRUCTIONS,
	      "Hardware event that counts retired instructions."),
	EVENT("cache-misses", COUNTER_CACHE_MISSES,
	      "Hardware event that counts last-level cache misses."),
};

const struct option_section *activity_options_at(size_t index)
{
	static const struct option_section sections[] = {
		{ bpf_rows, ARRAY_SIZE(bpf_rows), 0 },
		{ counter_rows, ARRAY_SIZE(counter_rows), 0 },
	};

	return index < ARRAY_SIZE(sections) ? &sections[index] : NULL;
}
