// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/profile_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "export/gzip_body.h"
#include "kepler/profile/profile_run.h"
#include "options/program.h"
#include "profile/folded.h"
#include "profile/pprof.h"
#include "profile/profile_page.h"
#include "profile/profile_svg.h"

#define NODES_MAX   400000U
#define EARLIER_MAX (64U << 20) /* bytes */
#define TITLE_MAX   200         /* about, in bytes */

enum idle_wanted { IDLE_EXCLUDE, IDLE_INCLUDE };
enum profile_format {
	FORMAT_AUTO,
	FORMAT_FOLDED,
	FORMAT_HTML,
	FORMAT_PPROF,
	FORMAT_SPEEDSCOPE,
	FORMAT_SVG
};

struct profile_config {
	struct config config;
	char *container, *pod, *output, *diff;
	uint32_t pid, frequency_hz;
	uint64_t duration_ns;
	bool all;
	enum idle_wanted idle;
	enum profile_format format;
};

#define OWN(member) .offset = offsetof(struct profile_config, member)

static const struct option_choice idles[] = { { "exclude", IDLE_EXCLUDE },
					      { "include", IDLE_INCLUDE },
					      { 0 } };

static const struct option_choice formats[] = { { "auto", FORMAT_AUTO },
						{ "folded", FORMAT_FOLDED },
						{ "html", FORMAT_HTML },
						{ "pprof", FORMAT_PPROF },
						{ "speedscope", FORMAT_SPEEDSCOPE },
						{ "svg", FORMAT_SVG },
						{ 0 } };

static const struct option own_rows[] = {
	{ "pid", NULL, OPTION_U32, OWN(pid), .max = 1U << 22, .default_text = "0", .metavar = "PID",
	  .only_flag = true,
	  .help = "Profile this process, and the processes that it starts from now on." },
	TEXT_FLAG("container", OWN(container), "", "NAME",
		  "Profile the processes of the container with this name or id."),
	TEXT_FLAG("pod", OWN(pod), "", "NAME",
		  "Profile the processes of the pod with this name, as NAME or NAMESPACE/NAME."),
	SWITCH_FLAG("all", OWN(all),
		    "Profile the whole machine, and show the energy that no process is charged."),
	{ "duration", NULL, OPTION_DURATION, OWN(duration_ns), .max = 24 * 3600 * NSEC_PER_SEC,
	  .default_text = "10s", .metavar = "DURATION", .only_flag = true,
	  .help = "How long to profile without a command. 0s: until SIGINT or SIGTERM." },
	{ "frequency", NULL, OPTION_U32, OWN(frequency_hz), .min = 1, .max = 999,
	  .default_text = "99", .metavar = "HZ", .only_flag = true,
	  .help = "Samples per second and busy CPU." },
	TEXT_FLAG("output", OWN(output), "", "FILE",
		  "Write the profile to FILE. The default is kepler-profile.html for a command "
		  "and standard output otherwise."),
	{ "format", NULL, OPTION_ENUM, OWN(format), .choices = formats, .default_text = "auto",
	  .metavar = "FORMAT", .only_flag = true,
	  .help = "html and svg: a flame graph in one file; folded: a line per stack; pprof and "
		  "speedscope: for these programs. auto: html for a FILE that ends in .html, pprof "
		  "for .pb.gz, speedscope for .json, svg for .svg, otherwise folded." },
	TEXT_FLAG(
		"diff", OWN(diff), "", "FILE",
		"Compare with the profile in FILE, an earlier output: each stack has two energies, "
		"the earlier one first."),
	{ "idle", NULL, OPTION_ENUM, OWN(idle), .choices = idles, .default_text = "exclude",
	  .metavar = "include|exclude", .only_flag = true,
	  .help = "Whether the profile includes idle energy: of the processes that idle.share "
		  "charges with it, and, with --all, of the machine." },
};
static const struct option_section own_sections[] = { { own_rows, ARRAY_SIZE(own_rows), 0 } };

const struct option_set profile_options = {
	.program = &config_program,
	.base = &config_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct profile_config),
	.check = config_check,
};

/* Energy of the node that no process has: with --all the profile is the whole node. */
static void add_rest(struct profile *profile, const struct profile_energy *energy)
{
	uint32_t node = profile_child(profile, PROFILE_ROOT,
				      profile_frame(profile, "[no process]", FRAME_NOTE));

	profile->nodes[node].energy_uj[RUN_NOW] += energy->node_uj - energy->processes_uj;
}

/* Before anything is measured: the file may be wrong. */
static int read_earlier(const char *path, struct profile *profile, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	struct diag of_line = { "" };
	size_t len;
	int r = read_file_alloc(path, EARLIER_MAX, &text, &len);

	if (r < 0)
		return diag_set(diag, r, "%s: %s", path, strerrordesc_np(-r));
	profile->is_compared = true;
	r = folded_read(profile, RUN_BEFORE, text, len, &of_line);
	return r < 0 ? diag_set(diag, r, "%s:%s", path, of_line.text) : 0;
}

static double joules(uint64_t energy_uj)
{
	return (double)energy_uj / 1e6;
}

/* A sentence about stacks without callers, if they are more than one in 20. */
static void add_caveat(const struct traced_stats *traced, struct strbuf *out)
{
	if (traced->broken * 20 > traced->user_samples)
		strbuf_addf(out,
			    "%.0f %% of the user stacks lack callers, most of them in %.40s; "
			    "programs built with -fno-omit-frame-pointer have whole stacks",
			    100.0 * (double)traced->broken / (double)traced->user_samples,
			    traced->worst[0] ? traced->worst : "unknown");
}

static void warn(const struct profile_result *result)
{
	const struct traced_stats *traced = &result->traced;
	uint64_t lost = result->sampler.lost + traced->lost;

	if (lost)
		(void)fprintf(
			stderr,
			"kepler: %llu records of samples and processes were lost: the machine "
			"is too busy, or memory is short\n",
			(unsigned long long)lost);
	if (traced->files_refused)
		(void)fprintf(stderr, "kepler: too many program files: %llu have no names\n",
			      (unsigned long long)traced->files_refused);
	if (traced->unreadable)
		(void)fprintf(stderr,
			      "kepler: %llu samples have an [unreadable] function: program files, "
			      "lists of compiled functions or maps of processes were not read "
			      "within 2 s (%u times)\n",
			      (unsigned long long)traced->unreadable, traced->hangs);
}

/* "594 samples by time, 198 by cache misses" */
static void add_samples(const struct profile_result *result, struct strbuf *out)
{
	const uint64_t *samples = result->traced.samples;

	strbuf_addf(out, "%llu samples by %s", (unsigned long long)samples[SAMPLED_BY_TIME],
		    result->sampler.by_cycles ? "cycles" : "time");
	for (enum sample_clock clock = SAMPLED_BY_TIME + 1; clock < SAMPLE_CLOCKS; clock++) {
		if (result->sampler.clocks & SAMPLE_CLOCK_BIT(clock))
			strbuf_addf(out, ", %llu by %s", (unsigned long long)samples[clock],
				    sample_clock_name(clock));
	}
}

static void summarize(const struct profile_result *result, uint64_t profile_uj, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf samples = STRBUF_INIT;
	const struct profile_energy *energy = &result->energy;

	add_samples(result, &samples);
	(void)fprintf(stderr, "kepler: %s: %.6f J (%s) of %.6f J of the machine in %.2f s, %s\n",
		      path, joules(profile_uj), zone_quality_name(energy->quality),
		      joules(energy->node_uj), (double)result->elapsed_ns / 1e9,
		      samples.data ? samples.data : "");
	if (result->traced.no_sample_uj)
		(void)fprintf(stderr, "kepler: %.6f J were used by processes without a sample\n",
			      joules(result->traced.no_sample_uj));
	warn(result);
}

static bool ends_in(const char *path, const char *end)
{
	size_t len = strlen(path), n = strlen(end);

	return len > n && strcmp(path + len - n, end) == 0;
}

static enum profile_format format_of(const struct profile_config *own, const char *path)
{
	if (own->format != FORMAT_AUTO)
		return own->format;
	if (ends_in(path, ".html"))
		return FORMAT_HTML;
	if (ends_in(path, ".svg"))
		return FORMAT_SVG;
	if (ends_in(path, ".pb.gz"))
		return FORMAT_PPROF;
	return ends_in(path, ".json") ? FORMAT_SPEEDSCOPE : FORMAT_FOLDED;
}

static int add_pprof(const struct profile *profile, const struct profile_about *about,
		     struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT;
	int r;

	pprof_write(profile, about, &message);
	r = strbuf_error(&message);
	return r < 0 ? r : gzip_body(message.data, message.len, out);
}

static int write_profile(const struct profile *profile, const struct profile_about *about,
			 enum profile_format format, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = 0;

	if (format == FORMAT_HTML)
		profile_page_html(profile, about, &text);
	else if (format == FORMAT_SVG)
		profile_svg(profile, about, &text);
	else if (format == FORMAT_PPROF)
		r = add_pprof(profile, about, &text);
	else if (format == FORMAT_SPEEDSCOPE)
		profile_page_speedscope(profile, about, &text);
	else
		folded_write(profile, &text);
	r = r == 0 ? strbuf_error(&text) : r;
	if (r == 0 && strcmp(path, "-") != 0) {
		r = write_output_file(path, text.data ? text.data : "", text.len, 0644);
	} else if (r == 0 && (fwrite(text.data ? text.data : "", 1, text.len, stdout) != text.len ||
			      fflush(stdout) != 0)) {
		r = -errno;
	}
	if (r < 0)
		(void)fprintf(stderr, "kepler: %s: %s\n",
			      strcmp(path, "-") == 0 ? "standard output" : path,
			      strerrordesc_np(-r));
	return r < 0 ? 1 : 0;
}

/* Names the command, with its words, or what else was profiled. */
static void add_title(const struct profile_config *own, char *const *command, struct strbuf *out)
{
	for (; command && *command && out->len < TITLE_MAX; command++)
		strbuf_addf(out, "%s%.80s", out->len ? " " : "", *command);
	if (own->pid)
		strbuf_addf(out, "process %u", own->pid);
	else if (*own->container)
		strbuf_addf(out, "container %s", own->container);
	else if (*own->pod)
		strbuf_addf(out, "pod %s", own->pod);
	else if (own->all)
		strbuf_add_str(out, "the machine");
}

static int finish(const struct profile_config *own, char *const *command, struct profile *profile,
		  const struct profile_result *result, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf title = STRBUF_INIT, caveat = STRBUF_INIT;
	struct profile_about about = {
		.quality = zone_quality_name(result->energy.quality),
		.elapsed_s = (double)result->elapsed_ns / 1e9,
		.began_unix_ns = (int64_t)(clock_ns(CLOCK_REALTIME) - result->elapsed_ns),
		.frequency_hz = own->frequency_hz,
	};

	if (!result->energy.is_known) {
		(void)fprintf(stderr, "kepler: no energy was read or estimated on this machine; "
				      "kepler doctor says why\n");
		return 1;
	}
	if ((*own->container || *own->pod) && !result->energy.has_matched) {
		(void)fprintf(stderr, "kepler: no process of %s %.120s ran\n",
			      *own->container ? "container" : "pod",
			      *own->container ? own->container : own->pod);
		return 1;
	}
	if (own->all)
		add_rest(profile, &result->energy);
	summarize(result, profile_sum_uj(profile, RUN_NOW),
		  strcmp(path, "-") == 0 ? "profile" : path);
	add_caveat(&result->traced, &caveat);
	if (caveat.len)
		(void)fprintf(stderr, "kepler: %s\n", caveat.data);
	add_title(own, command, &title);
	about.title = title.data ? title.data : "";
	about.caveat = caveat.data ? caveat.data : "";
	return write_profile(profile, &about, format_of(own, path), path);
}

static int run(const struct profile_config *own, char *const *command)
{
	const struct profile_request request = {
		.config = &own->config,
		.command = command,
		.pid = own->pid,
		.filter = { *own->container ? own->container : NULL, *own->pod ? own->pod : NULL },
		.with_idle = own->idle == IDLE_INCLUDE,
		.duration_ns = own->duration_ns,
		.frequency_hz = own->frequency_hz,
	};
	const char *path = *own->output ? own->output : command ? "kepler-profile.html" : "-";
	struct profile_result result = { .status = 0 };
	struct profile profile;
	struct diag diag = { "" };
	int r = profile_init(&profile, NODES_MAX), status;

	if (r == 0 && *own->diff)
		r = read_earlier(own->diff, &profile, &diag);
	if (r == 0)
		r = profile_run(&request, &profile, &result, &diag);
	if (r < 0) {
		(void)fprintf(stderr, "kepler: %s\n", diag.text[0] ? diag.text : "out of memory");
		status = result.status ? result.status : 1;
	} else {
		status = finish(own, command, &profile, &result, path);
		status = result.status ? result.status : status;
	}
	profile_release(&profile);
	return status;
}

int profile_main(int argc, char *const *argv, char *const *environ_)
{
	struct option_args args = { .argv = argv, .environ_ = environ_ };
	struct profile_config own = { .pid = 0 };
	char *const *command = NULL;
	int status;

	while (args.argc < argc && strcmp(argv[args.argc], "--") != 0)
		args.argc++;
	if (args.argc + 1 < argc)
		command = &argv[args.argc + 1];
	if (options_load_or_print(&profile_options, &args, &own.config.options, stderr) < 0)
		return PROGRAM_USAGE;
	log_setup(LOG_LEVEL_ERROR, own.config.log.format);
	if (!!command + !!own.pid + !!*own.container + !!*own.pod + own.all == 1)
		status = run(&own, command);
	else
		status = PROGRAM_WRONG_WORDS;
	options_release(&profile_options, &own.config.options);
	return status;
}
