// SPDX-License-Identifier: Apache-2.0
/*
 * One process reads all counters in turns (truth/counter_reader.h), and memory for what it reads is
 * there before it begins, so that the reader itself changes as little as possible while it reads.
 * Each phase is measured and reported before the next one takes the same memory. A counter that no
 * longer answers ends the phase; what was read until then is reported.
 */
#include "kepler-validator/noise_command.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/timed_call.h"
#include "kepler-validator/report_output.h"
#include "kepler-validator/validator_options.h"
#include "options/layers.h"
#include "options/operands.h"
#include "options/program.h"
#include "options/version.h"
#include "trial/load.h"
#include "trial/load_arithmetic.h"
#include "truth/counter_trace.h"
#include "truth/meters/energy_filter.h"
#include "truth/truth.h"
#include "verdict-report/noise_folder.h"

#define READINGS_MAX (4U << 20) /* of all counters: 96 MiB */
#define COURSE_S     0.1
#define LOAD_PART    0.5 /* of the CPUs; the reader needs one */
#define SETTLE_NS    NSEC_PER_SEC

struct noise_config {
	struct option_values options;
	char *sysfs, *procfs, *msr, *zone, *output;
	uint64_t duration_ns, interval_ns;
	bool no_load;
};

#define OWN(member) OPTION_MEMBER(struct noise_config, member)

static const struct option rows[] = {
	{ "duration", NULL, OPTION_DURATION, OWN(duration_ns),
	  OPTION_RANGE(NSEC_PER_SEC, 600 * NSEC_PER_SEC), .default_text = "30s",
	  .metavar = "DURATION", .only_flag = true,
	  .help = "The time of each of the two phases, without and with a load." },
	{ "interval", NULL, OPTION_DURATION, OWN(interval_ns),
	  OPTION_RANGE(10 * NSEC_PER_USEC, 100 * NSEC_PER_MSEC), .default_text = "250us",
	  .metavar = "DURATION", .only_flag = true,
	  .help = "The time between two readings of a counter. A counter that changes more often "
		  "than it is read has an update period that cannot be seen; a shorter interval "
		  "uses more CPU time, which is part of what is measured." },
	TEXT_FLAG("zone", OWN(zone), "", "KIND",
		  "Only the counters of this kind, such as package. All by default."),
	SWITCH_FLAG("no-load", OWN(no_load), "Leave out the phase with a load."),
	TEXT_FLAG("output", OWN(output), "", "DIR",
		  "Write the report into this folder, which is made unless it exists: noise.json, "
		  "noise.md and noise.html."),
	TEXT_FLAG("host.sysfs", OWN(sysfs), "/sys", "FOLDER", "Where sysfs is mounted."),
	TEXT_FLAG("host.procfs", OWN(procfs), "/proc", "FOLDER", "Where procfs is mounted."),
	TEXT_FLAG("host.msr", OWN(msr), "/dev/cpu/0/msr", "FILE",
		  "The registers of a processor, which say whether it filters its counters."),
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

const struct option_set noise_options = {
	.program = &validator_program,
	.base = &validator_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct noise_config),
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

_Static_assert(COUNTERS_MAX == NOISE_REPORT_METERS, "all counters that are read are reported");

struct traces {
	struct counter_trace items[NOISE_REPORT_METERS];
	size_t count;
	struct counter_reader *reader;
};

static void traces_release(struct traces *traces)
{
	for (size_t i = 0; i < traces->count; i++)
		counter_trace_close(&traces->items[i]);
	traces->count = 0;
	counter_reader_free(traces->reader);
	traces->reader = NULL;
}

static bool is_chosen(const struct noise_config *config, const struct truth_meter *meter)
{
	return !meter->is_power && (!*config->zone || strcmp(config->zone, meter->kind) == 0);
}

static int open_traces(const struct noise_config *config, struct truth *truth, struct traces *ret,
		       struct diag *diag)
{
	uint64_t each = config->duration_ns / config->interval_ns + 2;
	const struct truth_meter *meters[TRUTH_METERS_MAX];
	size_t chosen = 0;

	for (size_t i = 0; i < truth->meter_count; i++)
		if (is_chosen(config, &truth->meters[i]))
			meters[chosen++] = &truth->meters[i];
	if (chosen == 0)
		return diag_set(diag, -ENOENT, "zone: this machine has no counter of %s below %s",
				*config->zone ? config->zone : "energy", config->sysfs);
	if (chosen > NOISE_REPORT_METERS || each * chosen > READINGS_MAX)
		return diag_set(diag, -E2BIG,
				"interval: %llu readings of each of %zu counters are more than %u: "
				"choose one --zone, a longer --interval or a shorter --duration",
				(unsigned long long)each, chosen, READINGS_MAX);
	for (size_t i = 0; i < chosen; i++)
		if (counter_trace_open(meters[i], each, &ret->items[ret->count++]) < 0)
			return diag_set(diag, -ENOMEM, "out of memory");
	return counter_reader_new(meters, chosen, config->interval_ns, &ret->reader, diag);
}

static void wait_for(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* Reads until the phase ends, or a counter no longer answers: @report has that. */
static void read_phase(const struct noise_config *config, struct traces *traces,
		       struct noise_report *report)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + config->duration_ns;
	static struct counter_sample samples[COUNTER_SAMPLES_MAX];

	for (size_t i = 0; i < traces->count; i++)
		counter_trace_begin(&traces->items[i]);
	while (clock_ns(CLOCK_MONOTONIC) < end_ns && !stop && !*report->stalled) {
		ssize_t count = counter_reader_read(traces->reader, samples);

		for (ssize_t i = 0, next = 0; i < count; i++) {
			counter_trace_take(&traces->items[next], &samples[i]);
			next = (size_t)next + 1 < traces->count ? next + 1 : 0;
		}
		if (count == -EINTR) /* the batch is on its way, and is discarded */
			wait_for(COUNTER_BATCH_NS + 2 * config->interval_ns);
		else if (count < 0)
			(void)snprintf(report->stalled, sizeof(report->stalled),
				       "The reading ended early: %s: %s.",
				       counter_reader_place(traces->reader),
				       timed_call_error((int)count));
	}
}

/* Power over time, for a picture. */
static struct series *course_of(const struct counter_trace *trace)
{
	struct series *series = series_new(trace->name, "W");
	double next_s = 0;
	int r = 0;

	for (size_t i = 0; series && i < trace->count && r == 0; i++) {
		const struct noise_reading *reading = &trace->readings[i];

		if (i > 0 && reading->time_s < next_s)
			continue;
		r = series_add_counter(series, reading->time_s, reading->joules);
		next_s = reading->time_s + COURSE_S;
	}
	if (series)
		series_finish(series);
	return series;
}

static int measure(const struct traces *traces, enum noise_phase phase, struct noise_report *report)
{
	for (size_t i = 0; i < traces->count; i++) {
		const struct counter_trace *trace = &traces->items[i];
		struct noise_meter *meter = &report->meters[i];
		char text[512];

		(void)snprintf(meter->name, sizeof(meter->name), "%s", trace->name);
		int r = noise_measure(trace->readings, trace->count, &meter->phases[phase]);
		if (r == -EINVAL) {
			printf("%s, %s: %zu readings, %llu without a number.\n", meter->name,
			       noise_phase_name(phase), trace->count,
			       (unsigned long long)trace->failures);
			continue;
		}
		if (r < 0)
			return r;
		meter->has[phase] = true;
		meter->course[phase] = course_of(trace);
		noise_summary(&meter->phases[phase], text, sizeof(text));
		printf("%s, %s, %.4g W: %s\n", meter->name, noise_phase_name(phase),
		       meter->phases[phase].power_w, text);
		printf("  window      SD, W     5 %%     median    95 %%   Allan, W\n");
		for (size_t w = 0; w < NOISE_WINDOWS; w++) {
			const struct noise_spread *spread = &meter->phases[phase].windows[w];

			printf("  %4g ms  %9.3g %9.4g %9.4g %9.4g %9.3g\n", 1e3 * spread->window_s,
			       spread->sd_w, spread->low_w, spread->median_w, spread->high_w,
			       spread->allan_w);
		}
	}
	report->count = traces->count;
	(void)fflush(stdout);
	return 0;
}

static int run_phase(const struct noise_config *config, enum noise_phase phase,
		     struct traces *traces, struct noise_report *report, struct diag *diag)
{
	const struct load_cgroup no_cgroup = { .count = 0 };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const struct plan_phase load_phase = {
		.name = "load",
		.load = &load_steady,
		.cpus = fmax(1, LOAD_PART * (double)cpus),
		.length_s = 1e-9 * (double)config->duration_ns,
	};
	struct load_result ignored;
	struct load load = { .count = 0 };
	int r = phase == NOISE_LOAD ? load_start(&load_phase, &no_cgroup, &load) : 0;

	if (r < 0)
		return diag_set(diag, r, "the load cannot be started: %s", strerror(-r));
	if (phase == NOISE_LOAD)
		wait_for(SETTLE_NS);
	read_phase(config, traces, report);
	load_stop(&load, 0, &ignored);
	return measure(traces, phase, report) < 0 ? diag_set(diag, -ENOMEM, "out of memory") : 0;
}

static int run(const struct noise_config *config, struct truth *truth, struct traces *traces,
	       struct noise_report *report, struct diag *diag)
{
	const struct truth_options options = { .source = TRUTH_RAPL_SYSFS,
					       .sysfs = config->sysfs,
					       .procfs = config->procfs };
	const struct sigaction action = { .sa_handler = on_signal };
	int phases = config->no_load ? NOISE_LOAD : NOISE_PHASES;

	/* A sleep may otherwise be 50 µs longer; the process that reads inherits it. */
	(void)prctl(PR_SET_TIMERSLACK, 1UL);
	int r = report_output_check(config->output, diag);
	if (r == 0)
		r = truth_open(&options, truth, diag);
	if (r == 0)
		r = open_traces(config, truth, traces, diag);
	if (r < 0)
		return r;
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGHUP, &action, NULL);
	report->filter = energy_filter_text(energy_filter_find(config->msr, config->procfs));
	printf("%s\n", report->filter);
	printf("%zu counters, read every %.0f µs, %.0f s %s.\n", traces->count,
	       (double)config->interval_ns / 1e3, 1e-9 * (double)config->duration_ns,
	       config->no_load ? "without a load" : "without and with a load");
	(void)fflush(stdout);
	for (int phase = 0; phase < phases && r == 0 && !stop && !*report->stalled; phase++)
		r = run_phase(config, (enum noise_phase)phase, traces, report, diag);
	if (*report->stalled)
		printf("%s\n", report->stalled);
	return r;
}

static int write_report(const struct noise_config *config, const struct option_args *args,
			const struct machine_facts *machine, struct noise_report *report,
			struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;

	if (!*config->output)
		return 0;
	report_command_line("noise", args, &line);
	if (strbuf_error(&line) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	report->machine = machine;
	report->command = line.data;
	report->version = KEPLER_VERSION;
	report->created = time(NULL);
	return noise_report_write(config->output, report, diag);
}

int noise_main(int argc, char *const *argv, char *const *environ_)
{
	const struct option_args args = { .argc = argc, .argv = argv, .environ_ = environ_ };
	struct noise_config config = { .duration_ns = 0 };
	CLEANUP(truth_close) struct truth truth = { 0 };
	CLEANUP(traces_release) struct traces traces = { .count = 0 };
	CLEANUP(noise_report_release) struct noise_report report = { .count = 0 };
	struct machine_facts machine;
	struct diag diag = { "" };

	if (options_load_or_print(&noise_options, &args, &config.options, stderr) < 0)
		return PROGRAM_USAGE;
	int r = run(&config, &truth, &traces, &report, &diag);
	machine_facts_read(config.sysfs, config.procfs, &machine);
	if (r == 0)
		r = write_report(&config, &args, &machine, &report, &diag);
	if (r < 0)
		diag_print(&diag, validator_program.name, stderr);
	options_release(&noise_options, &config.options);
	return r < 0 ? PROGRAM_USAGE : stop || *report.stalled ? 3 : 0;
}
