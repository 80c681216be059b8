// SPDX-License-Identifier: Apache-2.0
/*
 * Each doctor_examine_… looks at one topic and adds its findings; doctor_examine() has the order in
 * which they are best read.
 */
#include "doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/terminal.h"
#include "doctor/cluster/doctor_cluster.h"
#include "doctor/doctor_energy.h"
#include "doctor/doctor_guest.h"
#include "doctor/doctor_owners.h"
#include "doctor/doctor_processes.h"
#include "doctor/doctor_report.h"
#include "doctor/doctor_service.h"
#include "doctor/doctor_shares.h"
#include "doctor/doctor_vms.h"
#include "doctor/doctor_web.h"
#include "doctor/peers/doctor_otlp.h"
#include "doctor/peers/doctor_rates.h"
#include "doctor/peers/doctor_receivers.h"
#include "doctor/peers/doctor_units.h"
#include "engine/session.h"
#include "export/now_page.h"
#include "meter/external/external.h"
#include "snapshot/power_text.h"
#include "top/top_frame.h"

#define TEXT_WIDTH_MAX 100
/* Sources that are polled have their first reading within two, and are compared from 3 s on. */
#define COMPARE_SECONDS 6
#define USERS_SHOWN     7 /* processes */
#define USERS_COLUMNS   80
#define RECORDING_MAX   (32U << 20)         /* bytes */
#define PATIENCE_NS     (10 * NSEC_PER_SEC) /* for the disk */

static void examine_machine(struct findings *findings, const struct host_info *host)
{
	findings_add(
		findings, FINDING_OK, "machine", NULL,
		"%s: Linux %s on %s, %s (%s), %u logical CPUs, %u cores, %u socket%s, %.0f GiB",
		host->node_name, host->kernel, host->machine,
		host->cpu_model[0] ? host->cpu_model : "unknown CPU", host->cpu_architecture,
		host->cpus, host->cores, host->sockets, host->sockets == 1 ? "" : "s",
		host->memory_gib);
	if (host->is_vm)
		findings_add(findings, FINDING_NOTE, "machine", NULL,
			     "a virtual machine (%s): it has no meter of its own",
			     host->hypervisor);
}

/* The headline: "Power of the node: 198.0 W = package 92.0 · dram 9.0 · other 97.0" */
static void say_power(struct findings *findings, const struct power_picture *power)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (!power->is_known)
		return;
	strbuf_add_str(&text, "Power of the node: ");
	power_text_total(power, &text);
	strbuf_add_str(&text, " = ");
	power_text_parts(power, &text);
	(void)snprintf(findings->headline, sizeof(findings->headline), "%s",
		       text.data ? text.data : "");
}

static void examine_vms(struct findings *findings, const struct session *session,
			const struct config *config)
{
	const struct snapshot *snapshot = snapshot_get(session->holder);

	doctor_examine_vms(findings, snapshot, config);
	snapshot_put(session->holder, snapshot);
}

/* A second's measurement, shown as a frame of the live table. */
static void examine_users(struct findings *findings, const struct session *session)
{
	static const char *const no_titles[] = { NULL };
	static const struct top_style style = { .utf8 = true, .titles = no_titles };
	const struct now_query query = { .view = LEVEL_PROCESS, .limit = USERS_SHOWN };
	const struct snapshot *snapshot = snapshot_get(session->holder);
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	char *line, *rest;
	int r;

	say_power(findings, interval_engine_power(session->engine));
	r = now_page(snapshot, &query, &answer);
	snapshot_put(session->holder, snapshot);
	if (r < 0 || top_frame_of(&answer, &style, USERS_COLUMNS, &frame) < 0)
		return;
	for (rest = frame.data; (line = strsep(&rest, "\n"));) {
		if (*line)
			findings_add(findings, FINDING_SHOW, "ran in the last second", NULL, "%s",
				     line);
	}
}

static void wait_a_second(void)
{
	const struct timespec second = { .tv_sec = 1 };

	(void)nanosleep(&second, NULL);
}

/* True if several meters count the same energy, or a whole and its parts. */
static bool can_compare(const struct interval_engine *engine)
{
	bool some = false;

	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		const struct zone *zone = interval_engine_zone(engine, z);

		some |= zone->quality == QUALITY_MEASURED &&
			(!zone_kind_info[zone->kind].is_metered ||
			 !interval_engine_view(engine, z).is_charged);
	}
	return some;
}

/* True if each of these is compared: a meter with its rival, and some whole with its parts. */
static bool has_compared(const struct interval_engine *engine)
{
	bool some_whole = false, has_remainder = false;

	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		const struct zone *zone = interval_engine_zone(engine, z);

		has_remainder |=
			!zone_kind_info[zone->kind].is_metered && zone->quality == QUALITY_MEASURED;
		some_whole |= !isnan(interval_engine_view(engine, z).coverage_ratio);
		if (!interval_engine_view(engine, z).is_charged &&
		    zone->quality == QUALITY_MEASURED &&
		    isnan(interval_engine_view(engine, z).deviation_ratio))
			return false;
	}
	return some_whole || !has_remainder;
}

/*
 * For @seconds. Where sources can be compared, until a second after that is done, because the first
 * result may be that one of them stands still, but not for longer than COMPARE_SECONDS more.
 */
static int measure(struct session *session, unsigned seconds)
{
	const unsigned least = seconds;
	struct interval_engine *engine = session->engine;
	struct interval_moment now = interval_moment_now();
	int r;

	now.realtime_ms = 0; /* a report has no time of day */
	r = interval_engine_run(engine, &now, &session->node);
	for (unsigned second = 1; r == 0 && second <= seconds; second++) {
		wait_a_second();
		now.boottime_ms += 1000;
		now.realtime_ms += 1000;
		r = interval_engine_run(engine, &now, &session->node);
		if (second == 1 && can_compare(engine))
			seconds += COMPARE_SECONDS;
		else if (second >= least && second + 1 < seconds && has_compared(engine))
			seconds = second + 1;
	}
	return r;
}

/* Without a recording the rest goes on. */
static void open_recorder(struct session *session, struct findings *findings,
			  const struct config *config, const struct doctor_recording *recording)
{
	int fd = fcntl(recording->fd, F_DUPFD_CLOEXEC, 0);
	struct config masked = *config;
	struct diag diag = { "" };

	masked.record.anonymize = true;
	if (fd < 0)
		(void)diag_set(&diag, -errno, "%s", strerrordesc_np(errno));
	if (fd < 0 || recorder_open_file(&session->recorder, &masked, session->sources.host.cpus,
					 "the recording", fd, RECORDING_MAX, &diag) < 0)
		findings_add(findings, FINDING_FIX, "recordings", NULL,
			     "nothing is recorded for the report: %s", diag.text);
	else
		record_tap_reconfigure(recorder_tap(&session->recorder), config);
}

/* Names in findings that cannot be distinguished from words by their form. */
static void add_names(struct redaction *names, const struct sources *sources,
		      const struct interval_engine *engine)
{
	const struct zone_source *models = sources->estimates.of[ESTIMATE_MODELS];

	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		const struct zone *zone = interval_engine_zone(engine, z);

		if (zone->is_remote || strcmp(zone->source, external_meter.name) == 0)
			redaction_add(names, REDACTED_NAME, zone->path);
	}
	for (size_t i = 0; i < zone_source_count(models); i++) {
		struct model_state state;

		zone_source_state(models, i, &state);
		redaction_add(names, REDACTED_NAME, state.model);
		if (strcmp(state.machine, sources->host.cpu_model) != 0)
			redaction_add(names, REDACTED_NAME, state.machine);
	}
}

static void examine_session(struct findings *findings, struct session *session,
			    const struct config *config, const struct doctor_recording *recording,
			    struct name_finder *finder)
{
	const struct sources *sources = &session->sources;
	struct diag diag = { "" };
	int r;

	if (recording)
		open_recorder(session, findings, config, recording);
	r = session_open_engine(session, &diag);
	if (r == 0)
		r = measure(session, recording ? recording->seconds : 1);
	if (recording && session->engine)
		add_names(recording->names, sources, session->engine);
	examine_machine(findings, &sources->host);
	if (r < 0) {
		findings_add(findings, FINDING_FAIL, "processes", NULL, "cannot be read: %s",
			     strerrordesc_np(-r));
		return;
	}
	doctor_examine_energy(findings, sources, config, session->engine);
	doctor_examine_guest(findings, sources, config);
	doctor_examine_processes(findings, sources);
	doctor_examine_owners(findings, sources, config);
	examine_vms(findings, session, config);
	doctor_examine_shares(findings, session->engine, config);
	doctor_examine_service(findings, config, &sources->host);
	doctor_examine_web(findings, config, finder);
	doctor_examine_otlp(findings, config);
	doctor_examine_receivers(findings, config);
	doctor_examine_rates(findings, config, session->rates);
	doctor_examine_units(findings, config, session->units,
			     interval_engine_books(session->engine)->ledger);
	examine_users(findings, session);
}

/* It keeps its privileges, which it looks at, and ends within seconds. */
static int open_session(struct session *session, const struct config *config, struct diag *diag)
{
	int r = session_begin(session, config, false, diag);

	if (r == 0)
		r = session_open_processes(session, diag);
	return r < 0 ? r : session_open_meters(session, diag);
}

struct findings *doctor_examine(const struct config *config,
				const struct doctor_recording *recording)
{
	struct findings *findings = calloc(1, sizeof(*findings));
	struct name_finder finder = NAME_FINDER_INIT;
	struct session session = SESSION_INIT;
	struct diag diag = { "" };

	if (!findings)
		return NULL;
	if (config_reachable_address(config))
		(void)name_finder_start(&finder, &address_names_system, NULL);
	if (open_session(&session, config, &diag) < 0)
		findings_add(findings, FINDING_FAIL, "start", NULL, "%s", diag.text);
	else
		examine_session(findings, &session, config, recording, &finder);
	(void)session_close(&session, PATIENCE_NS);
	name_finder_close(&finder);
	return findings;
}

/* The width of the terminal, limited to readable lines; 0: there is no terminal. */
static size_t text_width(void)
{
	unsigned rows, columns;

	terminal_size(STDOUT_FILENO, &rows, &columns);
	return columns > TEXT_WIDTH_MAX ? TEXT_WIDTH_MAX : columns;
}

/* @status, or 2 if it could not be printed, and the reason was. */
static int print(const struct strbuf *out, int status)
{
	if (strbuf_error(out) < 0)
		(void)fputs("kepler: out of memory\n", stderr);
	else if (fwrite(out->data, 1, out->len, stdout) != out->len || fflush(stdout) != 0)
		(void)fprintf(stderr, "kepler: standard output: %s\n", strerrordesc_np(errno));
	else
		return status;
	return 2;
}

/* The exit status; 2 if nothing could be printed, and the reason was. */
static int tell(const struct findings *findings, bool json, bool verbose)
{
	const struct findings_view view = { verbose, terminal_wants_colour(STDOUT_FILENO),
					    text_width() };
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	if (!findings)
		out.failed = true;
	else if (json)
		findings_print_json(findings, &out);
	else
		findings_print(findings, &view, &out);
	return print(&out, findings ? findings_exit_status(findings) : 2);
}

struct doctor_config {
	struct config config;
	bool json, verbose, cluster;
	char *kubeconfig, *context, *api_server;
	uint64_t cluster_time_ns;
	char *report; /* "": none */
	uint64_t report_time_ns;
};

static const struct option own_rows[] = {
	{ "json", NULL, OPTION_BOOL, .offset = offsetof(struct doctor_config, json),
	  .default_text = "false", .only_flag = true, .help = "Print the findings as JSON." },
	{ "verbose", NULL, OPTION_BOOL, .offset = offsetof(struct doctor_config, verbose),
	  .default_text = "false", .only_flag = true,
	  .help = "Also print findings that are fine, or that cannot be changed on this machine." },
	SWITCH_FLAG(
		"cluster", OPTION_MEMBER(struct doctor_config, cluster),
		"Examine the Keplers of a Kubernetes cluster instead of this machine. Nothing is "
		"changed there."),
	TEXT_FLAG("kubeconfig", OPTION_MEMBER(struct doctor_config, kubeconfig), "", "FILE",
		  "With --cluster: the kubeconfig. Empty: $KUBECONFIG, otherwise ~/.kube/config, "
		  "otherwise the pod's service account."),
	TEXT_FLAG("context", OPTION_MEMBER(struct doctor_config, context), "", "NAME",
		  "With --cluster: the context in the kubeconfig. Empty: its current-context."),
	TEXT_FLAG("api-server", OPTION_MEMBER(struct doctor_config, api_server), "", "URL",
		  "With --cluster: the address of kubectl proxy, such as http://127.0.0.1:8001, "
		  "instead of a kubeconfig."),
	{ "cluster-time", NULL, OPTION_DURATION,
	  .offset = offsetof(struct doctor_config, cluster_time_ns), .min = NSEC_PER_SEC,
	  .max = 3600 * NSEC_PER_SEC, .default_text = "2m", .metavar = "DURATION",
	  .only_flag = true, .help = "With --cluster: how long it may take." },
	{ "report", NULL, OPTION_STRING, .offset = offsetof(struct doctor_config, report),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true, .only_flag = true,
	  .bare = DOCTOR_REPORT_FILE,
	  .help = "Write a report of the findings to FILE, by default " DOCTOR_REPORT_FILE
		  ", for an issue: "
		  "versions, findings, sensors and a short recording, without names, addresses and "
		  "secrets. FILE must not exist." },
	{ "report-time", NULL, OPTION_DURATION,
	  .offset = offsetof(struct doctor_config, report_time_ns), .min = NSEC_PER_SEC,
	  .max = 600 * NSEC_PER_SEC, .default_text = "10s", .metavar = "DURATION",
	  .only_flag = true, .help = "How long the recording of a report is." },
};
static const struct option_section own_sections[] = { { own_rows, ARRAY_SIZE(own_rows), 0 } };

static int check(const struct option_values *values, struct diag *diag)
{
	const struct doctor_config *own = (const struct doctor_config *)(const void *)values;

	if (own->report[0] && (own->json || own->verbose))
		return diag_set(
			diag, -EINVAL,
			"report: goes with neither --json nor --verbose; it has all findings");
	if (own->report[0] && own->cluster)
		return diag_set(diag, -EINVAL, "report: is about this machine, without --cluster");
	if (!own->cluster && (own->kubeconfig[0] || own->context[0] || own->api_server[0]))
		return diag_set(diag, -EINVAL,
				"kubeconfig, context and api-server: go with --cluster only");
	return config_check(values, diag);
}

const struct option_set doctor_options = {
	.program = &config_program,
	.base = &config_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct doctor_config),
	.check = check,
};

/* The exit status. */
static int write_report(const struct doctor_config *doctor)
{
	struct doctor_recording recording = { .seconds = (unsigned)(doctor->report_time_ns /
								    NSEC_PER_SEC) };
	CLEANUP_FREE struct findings *findings = NULL;
	struct doctor_report report;
	struct diag diag = { "" };
	int r = doctor_report_open(&report, doctor->report, &doctor->config, &diag);

	if (r == 0) {
		recording.fd = report.recording_fd;
		recording.names = report.redaction;
		findings = doctor_examine(&doctor->config, &recording);
		r = findings ? doctor_report_write(&report, findings, &diag)
			     : diag_set(&diag, -ENOMEM, "out of memory");
	}
	if (r < 0)
		(void)fprintf(stderr, "kepler: %s\n", diag.text);
	doctor_report_close(&report);
	return r < 0 ? 2 : 0;
}

/* The exit status. */
static int examine_cluster(const struct doctor_config *doctor)
{
	const struct findings_view view = { doctor->verbose, terminal_wants_colour(STDOUT_FILENO),
					    text_width() };
	const struct doctor_cluster_options options = {
		.kubeconfig = doctor->kubeconfig,
		.context = doctor->context,
		.api_server = doctor->api_server,
		.time_ns = doctor->cluster_time_ns,
	};
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct diag diag = { "" };
	int status = doctor_cluster(&options, doctor->json, &view, &out, &diag);

	if (status >= 0)
		return print(&out, status);
	(void)fprintf(stderr, "kepler: %s\n", diag.text);
	return 2;
}

int doctor_main(int argc, char *const *argv, char *const *environ_)
{
	const struct option_args args = { .argc = argc, .argv = argv, .environ_ = environ_ };
	CLEANUP_FREE struct findings *findings = NULL;
	struct doctor_config doctor = { .json = false };
	int status;

	if (options_load_or_print(&doctor_options, &args, &doctor.config.options, stderr) < 0)
		return 2;
	if (doctor.cluster) {
		status = examine_cluster(&doctor);
	} else if (doctor.report[0]) {
		status = write_report(&doctor);
	} else {
		findings = doctor_examine(&doctor.config, NULL);
		status = tell(findings, doctor.json, doctor.verbose);
	}
	options_release(&doctor_options, &doctor.config.options);
	return status;
}
