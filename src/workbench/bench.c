// SPDX-License-Identifier: Apache-2.0
#include "workbench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "modelling/bench_step.h"
#include "modelling/collect.h"
#include "modelling/data_path.h"
#include "modelling/machine_file.h"
#include "modelling/model_command.h"
#include "modelling/plot.h"
#include "modelling/rows/extract.h"
#include "modelling/rows/isolate.h"
#include "modelling/rows/recorded_rows.h"
#include "modelling/scraper.h"
#include "modelling/times.h"
#include "modelling/train.h"
#include "options/program.h"
#include "workbench/bench_options.h"
#include "workbench/bench_summary.h"
#include "workbench/stress.h"

#define LOG_MAX        (16U * 1024 * 1024)
#define PHASE_FILES    6
#define SCRAPES_BEHIND 2 /* steps after the last load that its energy may take to be stored */
#define PROBE_FILE     "probe.json"
#define SERIES_FILE    "series.json"
#define RECORDED_FILE  "recorded.csv" /* in its place, of recordings */
#define RECORDED_S     12             /* until the recording is in the file */

struct bench {
	const struct bench_config *config;
	const char *folder;
	char log[64 + 8]; /* name of the stress run's log */
	struct machine_spec machine;
	pid_t scraper;
	struct diag diag;
};

/* ---- files ---- */

static const char *path_of(const struct bench *bench, const char *name,
			   char buf[static DATA_PATH_SIZE])
{
	return data_path_of(bench->folder, name, buf);
}

static bool has_file(const struct bench *bench, const char *name)
{
	char path[DATA_PATH_SIZE];

	return access(path_of(bench, name, path), F_OK) == 0;
}

/* Returns true if all steps of the plan have run. */
static bool log_is_complete(const struct bench *bench)
{
	CLEANUP_FREE char *text = NULL;
	char path[DATA_PATH_SIZE];
	size_t len;

	return read_file_alloc(path_of(bench, bench->log, path), LOG_MAX, &text, &len) == 0 &&
	       strstr(text, "\"complete\": true");
}

static void remove_file(const struct bench *bench, const char *name)
{
	static const char *const ends[] = { "", ".part", ".progress" };
	char path[DATA_PATH_SIZE], whole[DATA_PATH_SIZE + 16];

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		(void)snprintf(whole, sizeof(whole), "%s%s", path_of(bench, name, path), ends[i]);
		(void)unlink(whole);
	}
}

/* ---- phases ---- */

/* Runs @step, and takes its words: 0, BENCH_STOPPED, or EXIT_FAILURE. */
static int run_step(struct bench_step *step)
{
	int status = bench_step_run(step);

	bench_step_release(step);
	return status == BENCH_STOPPED || status == EXIT_SUCCESS ? status : EXIT_FAILURE;
}

static int fail(struct bench *bench)
{
	(void)fprintf(stderr, "kepler-model bench: %s\n", bench->diag.text);
	return EXIT_FAILURE;
}

static unsigned long long seconds_of(uint64_t ns)
{
	return ns / NSEC_PER_SEC;
}

static const char *const level_names[] = { [METRIC_CONTAINER] = "container",
					   [METRIC_PROCESS] = "process",
					   [METRIC_VM] = "vm",
					   [METRIC_NODE] = "node" };

static void add_stress_words(const struct bench *bench, struct bench_step *step)
{
	const struct bench_config *config = bench->config;
	char path[DATA_PATH_SIZE];

	step->run = stress_main;
	bench_step_add(step, "--output=%s", path_of(bench, bench->log, path));
	for (size_t i = 0; i < config->load_count; i++)
		bench_step_add(step, "--load=%s", config->loads[i]);
	bench_step_add(step, "--instances=%s", config->instances);
	bench_step_add(step, "--frequencies=%s", config->frequencies);
	bench_step_add(step, "--step=%llums",
		       (unsigned long long)(config->load_ns / NSEC_PER_MSEC));
	bench_step_add(step, "--pause=%llums",
		       (unsigned long long)(config->pause_ns / NSEC_PER_MSEC));
	bench_step_add(step, "--idle=%llums",
		       (unsigned long long)(config->idle_ns / NSEC_PER_MSEC));
	bench_step_add(step, "--budget=%llus", seconds_of(config->budget_ns));
	bench_step_add(step, "--stress-ng=%s", config->program);
	bench_step_add(step, "--sysfs=%s", config->sysfs);
}

static void add_collect_words(const struct bench *bench, const char *name, struct bench_step *step)
{
	const struct bench_config *config = bench->config;
	char path[DATA_PATH_SIZE];

	step->run = collect_main;
	bench_step_add(step, "%s", path_of(bench, name, path));
	bench_step_add(step, "--server=%s", config->server);
	bench_step_add(step, "--match=%s", config->match);
	bench_step_add(step, "--ca-file=%s", config->ca_file);
	bench_step_add(step, "--insecure=%s", config->insecure ? "true" : "false");
	bench_step_add(step, "--token-file=%s", config->token_file);
	bench_step_add(step, "--user=%s", config->user);
	bench_step_add(step, "--password-file=%s", config->password_file);
	bench_step_add(step, "--step=%llu", seconds_of(config->step_ns));
}

/* Hours of load are wasted if Prometheus does not scrape Kepler. */
static int probe_server(struct bench *bench)
{
	struct bench_step step = { .count = 0 };
	int status;

	remove_file(bench, PROBE_FILE);
	add_collect_words(bench, PROBE_FILE, &step);
	bench_step_add(&step, "--interval=%llu", 20 + 2 * seconds_of(bench->config->step_ns));
	status = run_step(&step);
	remove_file(bench, PROBE_FILE);
	return status;
}

static int start_scraper(struct bench *bench)
{
	const struct bench_config *config = bench->config;
	/* Without a path it is Kepler's usual one. */
	bool has_path = strchr(strstr(config->exporter, "://") + 3, '/');
	char path[DATA_PATH_SIZE], url[DATA_PATH_SIZE];
	const struct scraper_options options = {
		.url = url,
		.path = path_of(bench, SERIES_FILE, path),
		.ca_file = config->ca_file,
		.token_file = config->token_file,
		.user = config->user,
		.password_file = config->password_file,
		.insecure = config->insecure,
		.step_ns = config->step_ns,
		.level = (enum metric_level)config->level,
	};

	if (snprintf(url, sizeof(url), "%s%s", config->exporter, has_path ? "" : "/metrics") >=
	    (int)sizeof(url)) {
		(void)diag_set(&bench->diag, -ENAMETOOLONG, "exporter: it is too long");
		return fail(bench);
	}
	return scraper_start(&options, &bench->scraper, &bench->diag) < 0 ? fail(bench) : 0;
}

static int begin_source(struct bench *bench)
{
	if (*bench->config->exporter)
		return start_scraper(bench);
	if (*bench->config->recordings)
		return recorded_rows_check(bench->config->recordings, &bench->diag) < 0
			       ? fail(bench)
			       : 0;
	return probe_server(bench);
}

static int run_stress(struct bench *bench)
{
	struct bench_step step = { .count = 0 };
	int status = begin_source(bench);

	if (status != 0)
		return status;
	add_stress_words(bench, &step);
	step.companion = bench->scraper;
	status = run_step(&step);
	if (status == 0)
		(void)sleep(
			*bench->config->recordings
				? RECORDED_S
				: (unsigned)(SCRAPES_BEHIND * seconds_of(bench->config->step_ns)));
	if (bench->scraper && scraper_end(bench->scraper) < 0 && status == 0) {
		(void)diag_set(&bench->diag, -EIO, "the exporter's page could not be kept");
		status = fail(bench);
	}
	bench->scraper = 0;
	return status;
}

static int collect_recordings(struct bench *bench)
{
	const struct extract_options options = {
		.sources = { bench->config->source },
		.source_count = 1,
		.level = (enum metric_level)bench->config->level,
		.node = "",
	};
	char path[DATA_PATH_SIZE];
	int64_t start_us, end_us;
	int r = times_of_log(path_of(bench, bench->log, path), &start_us, &end_us, &bench->diag);

	if (r == 0)
		r = recorded_rows_write(bench->config->recordings, &options, start_us, end_us,
					path_of(bench, RECORDED_FILE, path), &bench->diag);
	return r < 0 ? fail(bench) : 0;
}

static int run_collect(struct bench *bench)
{
	struct bench_step step = { .count = 0 };
	char path[DATA_PATH_SIZE];

	if (*bench->config->recordings)
		return collect_recordings(bench);
	if (*bench->config->exporter) {
		if (has_file(bench, SERIES_FILE))
			return 0; /* from the time of the loads */
		(void)diag_set(&bench->diag, -ENOENT,
			       "%s: missing: the exporter is read while loads run; repeat with "
			       "--from=stress",
			       path_of(bench, SERIES_FILE, path));
		return fail(bench);
	}
	add_collect_words(bench, SERIES_FILE, &step);
	bench_step_add(&step, "--input=%s", path_of(bench, bench->log, path));
	return run_step(&step);
}

/* Rows of recordings are rows already. */
static int take_recorded(struct bench *bench)
{
	char from[DATA_PATH_SIZE], to[DATA_PATH_SIZE];

	if (link(path_of(bench, RECORDED_FILE, from), path_of(bench, "rows.csv", to)) == 0)
		return 0;
	(void)diag_set(&bench->diag, -errno, "%s: cannot be created from %s: %s", to, from,
		       strerrordesc_np(errno));
	return fail(bench);
}

static int run_extract(struct bench *bench)
{
	struct bench_step step = { .run = extract_main };
	char path[DATA_PATH_SIZE];

	if (*bench->config->recordings)
		return take_recorded(bench);
	bench_step_add(&step, "%s", path_of(bench, SERIES_FILE, path));
	bench_step_add(&step, "--output=%s", path_of(bench, "rows.csv", path));
	bench_step_add(&step, "--energy-source=%s", bench->config->source);
	bench_step_add(&step, "--level=%s", level_names[bench->config->level]);
	return run_step(&step);
}

static int run_isolate(struct bench *bench)
{
	struct bench_step step = { .run = isolate_main };
	char path[DATA_PATH_SIZE];

	bench_step_add(&step, "%s", path_of(bench, "rows.csv", path));
	bench_step_add(&step, "--isolator=idle");
	bench_step_add(&step, "--output=%s", path_of(bench, "dynamic.csv", path));
	return run_step(&step);
}

static int train(struct bench *bench, const char *rows_name, const char *type)
{
	const struct bench_config *config = bench->config;
	const struct machine_spec *machine = &bench->machine;
	char path[DATA_PATH_SIZE], errors[DATA_PATH_SIZE], name[32];
	struct bench_step step = { .run = train_from_data_main };

	(void)snprintf(name, sizeof(name), "%s.txt", type);
	step.output = path_of(bench, name, errors);
	bench_step_add(&step, "%s", path_of(bench, rows_name, path));
	(void)snprintf(name, sizeof(name), "%s.json", type);
	bench_step_add(&step, "--output=%s", path_of(bench, name, path));
	(void)snprintf(name, sizeof(name), "%s.held-out.csv", type);
	bench_step_add(&step, "--held-out=%s", path_of(bench, name, path));
	bench_step_add(&step, "--output-type=%s", type);
	bench_step_add(&step, "--energy-source=%s", config->source);
	bench_step_add(&step, "--feature-group=%s", config->feature_group);
	bench_step_add(&step, "--trainers=%s", config->trainers);
	bench_step_add(&step, "--validation=blocked");
	bench_step_add(&step, "--folds=%u", config->folds);
	bench_step_add(&step, "--machine.processor=%s", machine->processor);
	bench_step_add(&step, "--machine.cores=%u", machine->cores);
	bench_step_add(&step, "--machine.chips=%u", machine->chips);
	bench_step_add(&step, "--machine.memory=%u", machine->memory_gb);
	bench_step_add(&step, "--machine.frequency=%u", machine->frequency_mhz);
	return run_step(&step);
}

static int run_train(struct bench *bench)
{
	int status;

	machine_file_discover(&bench->machine);
	status = train(bench, "rows.csv", "AbsPower");
	return status ? status : train(bench, "dynamic.csv", "DynPower");
}

static int plot(struct bench *bench, const char *type, const char *rows_name)
{
	char name[40];

	struct bench_step step = { .run = plot_main };
	char path[DATA_PATH_SIZE];

	(void)snprintf(name, sizeof(name), "%s.json", type);
	bench_step_add(&step, "%s", path_of(bench, name, path));
	bench_step_add(&step, "%s", path_of(bench, rows_name, path));
	(void)snprintf(name, sizeof(name), "%s.html", type);
	bench_step_add(&step, "--output=%s", path_of(bench, name, path));
	(void)snprintf(name, sizeof(name), "%s.held-out.csv", type);
	bench_step_add(&step, "--held-out=%s", path_of(bench, name, path));
	return run_step(&step);
}

static int run_report(struct bench *bench)
{
	int status = plot(bench, "AbsPower", "rows.csv");

	if (status == 0)
		status = plot(bench, "DynPower", "dynamic.csv");
	if (status != 0)
		return status;
	return bench_summary_write(bench->folder, &bench->diag) < 0 ? fail(bench) : 0;
}

static const struct {
	const char *name, *what;
	const char *files[PHASE_FILES]; /* NULL: the log of the stress run */
	size_t file_count;
	int (*run)(struct bench *bench);
} phases[PHASE_COUNT] = {
	[PHASE_STRESS] = { "stress", "idle time, then loads", { NULL }, 1, run_stress },
	[PHASE_COLLECT] = { "collect", "series of that time", { SERIES_FILE }, 1, run_collect },
	[PHASE_EXTRACT] = { "extract", "rows", { "rows.csv" }, 1, run_extract },
	[PHASE_ISOLATE] = { "isolate",
			    "rows without idle power",
			    { "dynamic.csv" },
			    1,
			    run_isolate },
	[PHASE_TRAIN] = { "train",
			  "models, judged on held-out blocks of time",
			  { "AbsPower.json", "DynPower.json", "AbsPower.txt", "DynPower.txt",
			    "AbsPower.held-out.csv", "DynPower.held-out.csv" },
			  6,
			  run_train },
	[PHASE_REPORT] = { "report",
			   "pages of the models",
			   { "AbsPower.html", "DynPower.html", BENCH_SUMMARY_FILE },
			   3,
			   run_report },
};

static const char *file_of(const struct bench *bench, size_t phase, size_t file)
{
	if (phase == PHASE_COLLECT && *bench->config->recordings)
		return RECORDED_FILE;
	return phases[phase].files[file] ? phases[phase].files[file] : bench->log;
}

static bool has_files(const struct bench *bench, size_t phase)
{
	for (size_t i = 0; i < phases[phase].file_count; i++) {
		if (!has_file(bench, file_of(bench, phase, i)))
			return false;
	}
	return true;
}

/* Loads that were stopped are done once rows are made of them, by --from. */
static bool is_done(const struct bench *bench, size_t phase)
{
	return has_files(bench, phase) &&
	       (phase != PHASE_STRESS || log_is_complete(bench) || has_file(bench, "rows.csv"));
}

/* The phase to begin with, or PHASE_NONE if all are done. */
static size_t first_phase(const struct bench *bench)
{
	size_t phase = 0;

	if (bench->config->from != PHASE_NONE)
		return (size_t)bench->config->from;
	while (phase < PHASE_COUNT && is_done(bench, phase))
		phase++;
	return phase;
}

/*
 * Removes the files of the phases from @first on, because they would belong to other rows. A
 * partial collection is kept if no phase before it is run again.
 */
static void remove_outputs(const struct bench *bench, size_t first)
{
	bool keeps_series = first == PHASE_COLLECT &&
			    (*bench->config->exporter || bench->config->from == PHASE_NONE);

	for (size_t phase = first; phase < PHASE_COUNT; phase++) {
		if (phase == PHASE_COLLECT && keeps_series)
			continue;
		for (size_t i = 0; i < phases[phase].file_count; i++)
			remove_file(bench, file_of(bench, phase, i));
	}
}

static int check_before(struct bench *bench, size_t first)
{
	char path[DATA_PATH_SIZE];

	for (size_t phase = 0; phase < first; phase++) {
		for (size_t i = 0; i < phases[phase].file_count; i++) {
			if (has_file(bench, file_of(bench, phase, i)))
				continue;
			return diag_set(&bench->diag, -ENOENT,
					"from: %s needs %s, which is missing: start with --from=%s",
					phases[first].name,
					path_of(bench, file_of(bench, phase, i), path),
					phases[phase].name);
		}
	}
	return 0;
}

/* ---- the run ---- */

static int print_plan(struct bench *bench)
{
	struct bench_step step = { .count = 0 };
	size_t first = first_phase(bench);
	int status;

	for (size_t phase = 0; phase < PHASE_COUNT; phase++)
		(void)printf("%zu of %d: %s: %s%s\n", phase + 1, PHASE_COUNT, phases[phase].name,
			     phases[phase].what, phase < first ? ": done" : "");
	if (first != PHASE_STRESS)
		return 0;
	(void)printf("\nThe loads:\n");
	add_stress_words(bench, &step);
	bench_step_add(&step, "--dry-run=true");
	status = run_step(&step);
	if (status == 0)
		(void)printf("Then rows are collected and models trained: minutes for hours of "
			     "load.\n");
	return status;
}

static void tell_stopped(const struct bench *bench, size_t phase)
{
	(void)fprintf(stderr, "kepler-model bench: stopped; the same command goes on with %s",
		      phases[phase].name);
	if (phase == PHASE_STRESS && has_file(bench, bench->log))
		(void)fprintf(stderr, " from its beginning; with --from=collect it uses the loads "
				      "that have run");
	(void)fputc('\n', stderr);
}

static int run_phases(struct bench *bench)
{
	size_t first = first_phase(bench);
	int status = 0;

	if (check_before(bench, first) < 0)
		return fail(bench);
	remove_outputs(bench, first);
	for (size_t phase = first; status == 0 && phase < PHASE_COUNT; phase++) {
		(void)fprintf(stderr, "kepler-model bench: %zu of %d: %s: %s\n", phase + 1,
			      PHASE_COUNT, phases[phase].name, phases[phase].what);
		status = phases[phase].run(bench);
		if (status == BENCH_STOPPED)
			tell_stopped(bench, phase);
		else if (status != 0)
			(void)fprintf(stderr,
				      "kepler-model bench: %s failed for the reason above; repeat "
				      "the command to try again\n",
				      phases[phase].name);
	}
	if (status != 0)
		return status;
	return bench_summary_print(bench->folder, &bench->diag) < 0 ? fail(bench) : 0;
}

/* Two runs in one folder would mix their files: the descriptor is the lock. */
static int open_folder(struct bench *bench)
{
	int fd;

	if (mkdir(bench->folder, 0755) < 0 && errno != EEXIST)
		return diag_set(&bench->diag, -errno, "%.200s: cannot be created: %s",
				bench->folder, strerrordesc_np(errno));
	fd = open(bench->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return diag_set(&bench->diag, -errno, "%.200s: cannot be opened: %s", bench->folder,
				strerrordesc_np(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	(void)close(fd);
	return diag_set(&bench->diag, -EBUSY, "%.200s: another run of bench uses it",
			bench->folder);
}

static int run(void *userdata, const struct operands *operands, struct diag *diag)
{
	const struct bench_config *config = userdata;
	struct bench bench = { .config = config,
			       .folder = operands->count ? operands->words[0] : config->output };
	CLEANUP_FD int lock = -1;

	(void)diag;
	if (snprintf(bench.log, sizeof(bench.log), "%s.json", config->benchmark) >=
	    (int)sizeof(bench.log)) {
		(void)diag_set(&bench.diag, -EINVAL, "benchmark: the name is too long");
		return fail(&bench);
	}
	bench_step_block_signals();
	if (config->dry_run)
		return print_plan(&bench);
	lock = open_folder(&bench);
	return lock < 0 ? fail(&bench) : run_phases(&bench);
}

int bench_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = { .name = "bench",
						      .set = &bench_options,
						      .shorts = bench_short_flags,
						      .max = 1,
						      .run = run };

	return model_command_run(&command, argc, argv, environ_);
}
