// SPDX-License-Identifier: Apache-2.0
#include "workbench/stress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "modelling/model_command.h"
#include "options/program.h"
#include "workbench/frequency_limits.h"
#include "workbench/stress_guard.h"
#include "workbench/stress_log.h"
#include "workbench/stress_plan.h"
#include "workbench/stress_step.h"

#define EXIT_STOPPED 3
#define STEPS_SHOWN  200
#define PATH_SIZE    4096

struct stress_config {
	struct settings settings;
	char *output, *program, *sysfs, *instances, *frequencies;
	char *loads[STRESS_LOADS_MAX];
	size_t load_count;
	uint64_t step_ns, pause_ns, idle_ns, budget_ns;
	bool dry_run;
};

#define OWN(member) .offset = offsetof(struct stress_config, member)

static const struct option rows[] = {
	{ "load", NULL, OPTION_STRINGS, OWN(loads),
	  .count_offset = offsetof(struct stress_config, load_count), .list_max = STRESS_LOADS_MAX,
	  .default_text = "cpu,branch,regs,l1cache,cache", .metavar = "LOAD", .only_flag = true,
	  .help = "A stress-ng stressor, optionally with options (vm-rw;vm-rw-bytes;1G), or "
		  "sleep." },
	TEXT_FLAG("instances", OWN(instances), "", "N,N",
		  "Numbers of processes. Empty: 1, 2, 4, 8, 16 and further in steps of 8, up to "
		  "the number of CPUs plus 8."),
	TEXT_FLAG("frequencies", OWN(frequencies), "", "MHZ,MHZ",
		  "Maximum frequencies of all CPUs; current: unchanged. Empty: the lowest, then "
		  "from 800 MHz in steps of 800 MHz, and the highest, if the kernel allows setting "
		  "them."),
	{ "step", NULL, OPTION_DURATION, OWN(step_ns), .min = NSEC_PER_SEC,
	  .max = 3600 * NSEC_PER_SEC, .default_text = "20s", .metavar = "DURATION",
	  .only_flag = true, .help = "Run time of each step." },
	{ "pause", NULL, OPTION_DURATION, OWN(pause_ns), .max = 3600 * NSEC_PER_SEC,
	  .default_text = "5s", .metavar = "DURATION", .only_flag = true,
	  .help = "Time between two steps." },
	{ "idle", NULL, OPTION_DURATION, OWN(idle_ns), .max = 24 * 3600 * NSEC_PER_SEC,
	  .default_text = "1m40s", .metavar = "DURATION", .only_flag = true,
	  .help = "Idle time before the first step, in which idle power is measured." },
	{ "budget", NULL, OPTION_DURATION, OWN(budget_ns), .min = NSEC_PER_SEC,
	  .max = 30 * 24 * 3600 * NSEC_PER_SEC, .default_text = "5h", .metavar = "DURATION",
	  .only_flag = true, .help = "Limit on the run time. A longer plan is not started." },
	TEXT_FLAG("output", OWN(output), "stress.json", "FILE",
		  "The log file, which \"kepler-model collect --input\" reads."),
	SWITCH_FLAG("dry-run", OWN(dry_run), "Print the plan and its run time, and exit."),
	TEXT_FLAG("stress-ng", OWN(program), "stress-ng", "PROGRAM",
		  "Name or path of the stress-ng "
		  "program."),
	TEXT_FLAG("sysfs", OWN(sysfs), "/sys", "FOLDER",
		  "Directory of sysfs, where frequencies are read and set."),
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

const struct option_set stress_command_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct stress_config),
};

static const struct short_flag shorts[] = { { "-o", "output" }, { NULL, NULL } };

/* The state of a run. */
struct session {
	const struct stress_config *config;
	struct stress_plan plan;
	struct cpu_limits limits;
	struct stress_guard guard;
	struct stress_machine machine;
	struct stress_log log;
	char program[PATH_SIZE];
	bool on_terminal, is_limited; /* frequencies are set */
	uint64_t began_ns;
};

static int64_t now_us(void)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_USEC);
}

/* ---- the plan ---- */

/* Numbers that commas separate, each from 1 to @max: how many, or -EINVAL. */
static int parse_list(const char *text, uint64_t max, uint64_t *ret, size_t room)
{
	size_t count = 0;

	for (;;) {
		size_t len = strcspn(text, ",");

		if (count == room || parse_u64(text, len, &ret[count]) < 0 || ret[count] == 0 ||
		    ret[count] > max)
			return -EINVAL;
		count++;
		if (!text[len])
			return (int)count;
		text += len + 1;
	}
}

static int plan_instances(struct session *session, struct diag *diag)
{
	uint64_t numbers[STRESS_INSTANCES_MAX];
	const char *text = session->config->instances;
	int count;

	if (!*text) {
		stress_plan_default_instances(&session->plan, session->machine.cpus);
		return 0;
	}
	count = parse_list(text, STRESS_CPUS_MAX, numbers, STRESS_INSTANCES_MAX);
	if (count < 0)
		return diag_add(diag, -EINVAL,
				"instances: must be numbers from 1 to %d, such as "
				"1,2,4, not \"%.60s\"",
				STRESS_CPUS_MAX, text);
	for (int i = 0; i < count; i++)
		session->plan.instances[i] = (uint32_t)numbers[i];
	session->plan.instance_count = (size_t)count;
	return 0;
}

static int plan_frequencies(struct session *session, struct diag *diag)
{
	struct stress_plan *plan = &session->plan;
	const char *text = session->config->frequencies;
	int count;

	plan->frequency_count = 1; /* as it is */
	if (strcmp(text, "current") == 0 || (!*text && !session->limits.count))
		return 0;
	if (!session->limits.count)
		return diag_add(diag, -ENODATA,
				"frequencies: the kernel has no scaling_max_freq here, as in most "
				"virtual machines; only current is possible");
	session->is_limited = true;
	if (!*text) {
		stress_plan_default_frequencies(plan, session->limits.lowest_khz,
						session->limits.highest_khz);
		return 0;
	}
	count = parse_list(text, 100000, plan->frequencies_khz, STRESS_FREQUENCIES_MAX);
	if (count < 0)
		return diag_add(diag, -EINVAL,
				"frequencies: must be MHz, such as 2000,2800, or current, not "
				"\"%.60s\"",
				text);
	plan->frequency_count = (size_t)count;
	for (int i = 0; i < count; i++) {
		plan->frequencies_khz[i] *= 1000;
		if (plan->frequencies_khz[i] < session->limits.lowest_khz ||
		    plan->frequencies_khz[i] > session->limits.highest_khz)
			return diag_add(diag, -EINVAL,
					"frequencies: the CPUs have %llu to %llu MHz",
					(unsigned long long)session->limits.lowest_khz / 1000,
					(unsigned long long)session->limits.highest_khz / 1000);
	}
	return 0;
}

static int make_plan(struct session *session, struct diag *diag)
{
	const struct stress_config *config = session->config;
	struct stress_plan *plan = &session->plan;
	int r = 0;

	plan->step_ms = config->step_ns / NSEC_PER_MSEC;
	plan->pause_ms = config->pause_ns / NSEC_PER_MSEC;
	plan->idle_ms = config->idle_ns / NSEC_PER_MSEC;
	for (size_t i = 0; i < config->load_count; i++)
		if (stress_load_parse(config->loads[i], &plan->loads[plan->load_count++], diag) < 0)
			r = -EINVAL;
	if (plan_instances(session, diag) < 0)
		r = -EINVAL;
	return plan_frequencies(session, diag) < 0 ? -EINVAL : r;
}

static void format_ms(uint64_t ms, char ret[static 32])
{
	(void)snprintf(ret, 32, "%llu:%02u:%02u", (unsigned long long)(ms / 3600000),
		       (unsigned)(ms / 60000 % 60), (unsigned)(ms / 1000 % 60));
}

static void print_plan(const struct session *session)
{
	size_t count = stress_plan_steps(&session->plan);
	char text[32];

	for (size_t i = 0; i < count && i < STEPS_SHOWN; i++) {
		struct stress_step step = stress_plan_step(&session->plan, i);

		(void)printf("%zu: %s, %u processes, ", i + 1, step.load->name, step.instances);
		if (step.frequency_khz)
			(void)printf("at most %llu MHz\n",
				     (unsigned long long)step.frequency_khz / 1000);
		else
			(void)printf("frequency as it is\n");
	}
	if (count > STEPS_SHOWN)
		(void)printf("and %zu more\n", count - STEPS_SHOWN);
	format_ms(stress_plan_ms(&session->plan), text);
	(void)printf("%zu steps on %u CPUs take %s\n", count, session->machine.cpus, text);
}

static int check_budget(const struct session *session, struct diag *diag)
{
	uint64_t ms = stress_plan_ms(&session->plan);
	char text[32], budget[32];

	if (ms <= session->config->budget_ns / NSEC_PER_MSEC)
		return 0;
	format_ms(ms, text);
	format_ms(session->config->budget_ns / NSEC_PER_MSEC, budget);
	return diag_set(diag, -EINVAL,
			"%zu steps take %s, and the budget is %s: choose fewer with load, "
			"instances or frequencies, or a shorter step",
			stress_plan_steps(&session->plan), text, budget);
}

/* ---- the run ---- */

static void print_progress(const struct session *session, size_t done, const char *what)
{
	uint64_t all_ms = stress_plan_ms(&session->plan);
	uint64_t past_ms = (clock_ns(CLOCK_MONOTONIC) - session->began_ns) / NSEC_PER_MSEC;
	char left[32];

	format_ms(all_ms > past_ms ? all_ms - past_ms : 0, left);
	if (session->on_terminal)
		(void)fprintf(stderr, "\r\033[K%zu of %zu steps, %s left: %s", done,
			      stress_plan_steps(&session->plan), left, what);
}

/* Adds the step that has just ended to the log. 0 or -errno with a diagnosis. */
static int note(struct session *session, const struct stress_step *step, int64_t start_us,
		uint32_t failed, struct diag *diag)
{
	struct stress_entry entry = { .instances = step->instances,
				      .failed = failed,
				      .frequency_khz = step->frequency_khz,
				      .start_us = start_us,
				      .end_us = now_us() };

	memcpy(entry.load, step->load->name, sizeof(entry.load));
	if (stress_log_add(&session->log, &entry) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	return stress_log_write(&session->log, session->config->output, diag);
}

/* 0; 1 where a signal asks for the end; -errno with a diagnosis. */
static int run_step(struct session *session, size_t index, struct diag *diag)
{
	struct stress_step step = stress_plan_step(&session->plan, index);
	struct stress_outcome outcome;
	int64_t start_us;
	int r = 0;

	print_progress(session, index, step.load->name);
	if (session->is_limited)
		r = cpu_limits_set(&session->limits, step.frequency_khz, diag);
	if (r < 0)
		return r;
	start_us = now_us();
	r = stress_step_run(&session->machine, &step, session->plan.step_ms, &outcome);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be started: %s", session->program,
				strerrordesc_np(-r));
	if (outcome.failed && !outcome.was_stopped)
		(void)fprintf(stderr,
			      "%skepler-model stress: %u of %u processes of %s have failed; try "
			      "\"%s --%s 1 --timeout 1s\"\n",
			      session->on_terminal ? "\r\033[K" : "", outcome.failed,
			      step.instances, step.load->name, session->program, step.load->name);
	r = note(session, &step, start_us, outcome.failed, diag);
	if (r < 0 || outcome.was_stopped)
		return r < 0 ? r : 1;
	return stress_wait(session->plan.pause_ms);
}

static int run_idle(struct session *session, struct diag *diag)
{
	static const struct stress_load idle = { .name = "idle" };
	const struct stress_step step = { .load = &idle };
	int64_t start_us = now_us();
	bool stopped;
	int r;

	if (!session->plan.idle_ms)
		return 0;
	print_progress(session, 0, "idle");
	stopped = stress_wait(session->plan.idle_ms);
	r = note(session, &step, start_us, 0, diag);
	return r < 0 ? r : stopped;
}

static int run_all(struct session *session, struct diag *diag)
{
	size_t count = stress_plan_steps(&session->plan);
	int r;

	session->log.start_us = now_us();
	session->log.cpus = session->machine.cpus;
	session->began_ns = clock_ns(CLOCK_MONOTONIC);
	r = run_idle(session, diag);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = run_step(session, i, diag);
	if (session->on_terminal)
		(void)fputs("\r\033[K", stderr);
	if (r != 0)
		return r;
	session->log.is_complete = true;
	return stress_log_write(&session->log, session->config->output, diag);
}

static int run_guarded(struct session *session, struct diag *diag)
{
	struct cpu_limits none = { .sysfs = NULL };
	int r, ended;

	stress_block_signals();
	r = stress_guard_start(session->is_limited ? &session->limits : &none, &session->guard);
	if (r < 0)
		return diag_set(diag, r, "cannot start a second process: %s", strerrordesc_np(-r));
	session->machine.guard = &session->guard;
	r = run_all(session, diag);
	ended = stress_guard_end(&session->guard);
	if (ended < 0 && r >= 0)
		r = diag_set(diag, ended,
			     "%s: frequencies could not be restored; they are limited by "
			     "scaling_max_freq",
			     session->config->sysfs);
	return r;
}

static int stress(struct session *session, struct diag *diag)
{
	const struct stress_config *config = session->config;
	int r = cpu_limits_read(config->sysfs, &session->limits);

	if (r < 0)
		return diag_set(diag, r, "out of memory");
	r = make_plan(session, diag);
	if (r == 0 && config->dry_run) {
		print_plan(session);
		return 0;
	}
	if (r == 0)
		r = check_budget(session, diag);
	if (r == 0 && stress_program_find(config->program, session->program, PATH_SIZE) < 0)
		r = diag_set(diag, -ENOENT,
			     "%s: not found; install the package stress-ng, or name it with "
			     "--stress-ng",
			     config->program);
	if (r < 0)
		return r;
	session->machine.program = session->program;
	print_plan(session);
	(void)fflush(stdout);
	return run_guarded(session, diag);
}

static int run(void *userdata, const struct operands *operands, struct diag *diag)
{
	const struct stress_config *config = userdata;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	CLEANUP_FREE struct session *session = calloc(1, sizeof(*session));
	int r;

	(void)operands;
	if (!session)
		return diag_set(diag, -ENOMEM, "out of memory");
	session->config = config;
	session->machine.cpus = cpus > 0 && cpus < STRESS_CPUS_MAX ? (uint32_t)cpus : 1;
	session->on_terminal = isatty(STDERR_FILENO);
	r = stress(session, diag);
	if (r > 0)
		(void)fprintf(stderr, "kepler-model stress: stopped; %s has the steps so far\n",
			      config->output);
	stress_log_release(&session->log);
	cpu_limits_release(&session->limits);
	return r > 0 ? EXIT_STOPPED : r;
}

int stress_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = {
		.name = "stress", .set = &stress_command_options, .shorts = shorts, .run = run
	};

	return model_command_run(&command, argc, argv, environ_);
}
