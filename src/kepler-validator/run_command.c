// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/run_command.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/num.h"
#include "judging/judge.h"
#include "kepler-validator/checks.h"
#include "kepler-validator/percent.h"
#include "kepler-validator/prometheus_flags.h"
#include "kepler-validator/report_output.h"
#include "kepler-validator/required_levels.h"
#include "kepler-validator/validator_options.h"
#include "net/http_url.h"
#include "options/layers.h"
#include "options/operands.h"
#include "options/program.h"
#include "truth/gpu_meter.h"

#define S_PER_NS 1e-9

struct run_config {
	struct option_values options;
	char *exporters[EXPORTERS_MAX];
	size_t exporter_count;
	char *estimates[EXPORTERS_MAX];
	size_t estimate_count;
	char *kepler;
	char *scenario;
	const struct scenario *chosen;
	char *load_command, *gpu_load, *nvml, *vm, *guest;
	int source, load_cgroup;
	bool quick, full;
	char *sysfs, *procfs, *file, *law, *output;
	struct {
		char *url, *user, *password_file, *token_file, *ca_file;
		bool insecure;
	} redfish;
	uint64_t duration_ns, step_ns, timeout_ns, max_lag_ns;
	char *max_error, *max_effect_error, *max_coverage_error, *max_estimate_error,
		*max_regression;
	char *required[ENERGY_LEVELS];
	size_t required_count;
	struct prometheus_flags prometheus;
};

static const struct option_choice truth_choices[] = {
	{ "auto", TRUTH_AUTO },       { "rapl-sysfs", TRUTH_RAPL_SYSFS },
	{ "perf", TRUTH_PERF },       { "msr", TRUTH_MSR },
	{ "hwmon", TRUTH_HWMON },     { "acpi", TRUTH_ACPI },
	{ "redfish", TRUTH_REDFISH }, { "ipmi", TRUTH_IPMI },
	{ "pdu-file", TRUTH_FILE },   { "law", TRUTH_LAW },
	{ "none", TRUTH_NONE },       { NULL, 0 }
};

#define SCENARIO_LIST         "list"
#define LOAD_COMMAND_SCENARIO "command"
#define GPU_LOAD_SCENARIO     "gpu"

static int check_scenario(const char *text, struct diag *diag)
{
	if (scenario_find(text) || strcmp(text, SCENARIO_LIST) == 0)
		return 0;
	return diag_set(diag, -EINVAL, "must be a scenario that --scenario=list names, not \"%s\"",
			text);
}

static const struct option_choice cgroup_choices[] = { { "own", LOAD_CGROUP_SERVICE },
						       { "pod", LOAD_CGROUP_POD },
						       { NULL, 0 } };

#define OWN(member) OPTION_MEMBER(struct run_config, member)

static const struct option rows[] = {
	{ "exporter", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct run_config, exporters, exporter_count, EXPORTERS_MAX),
	  .default_text = "http://localhost:28282/metrics", .metavar = "URL", .only_flag = true,
	  .help = "The page of an exporter to judge. Repeat it to judge several at once. The kind "
		  "of exporter is recognized by its metrics." },
	{ "estimates", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct run_config, estimates, estimate_count, EXPORTERS_MAX),
	  .default_text = "", .may_be_empty = true, .metavar = "MODEL", .only_flag = true,
	  .help = "Judge the estimates of a model by this machine's meters: builtin, the file of a "
		  "model, or the URL of one or of a model server. For each, a second Kepler runs "
		  "meanwhile, without its meters. Repeat it for several. Without --exporter, only "
		  "estimates are judged." },
	TEXT_FLAG("kepler", OWN(kepler), "", "FILE",
		  "For --estimates: the program kepler; next to this one or in PATH by default."),
	{ "scenario", NULL, OPTION_STRING, OWN(scenario), .default_text = "quick",
	  .metavar = "NAME", .only_flag = true, .check = check_scenario,
	  .help = "The loads to run; \"list\" prints the scenarios and runs none." },
	{ "duration", NULL, OPTION_DURATION, OWN(duration_ns),
	  OPTION_RANGE(10 * NSEC_PER_SEC, 3600 * NSEC_PER_SEC), .default_text = "3m",
	  .metavar = "DURATION", .only_flag = true,
	  .help = "The time that all phases take together." },
	SWITCH_FLAG("quick", OWN(quick),
		    "Short for --scenario=quick --duration=3m, which are the defaults. An option "
		    "that is given as well takes precedence."),
	SWITCH_FLAG("full", OWN(full),
		    "Short for --scenario=full --duration=40m. An option that is given as well "
		    "takes precedence."),
	{ "load-cgroup", NULL, OPTION_ENUM, OWN(load_cgroup), .choices = cgroup_choices,
	  .default_text = "own", .metavar = "SHAPE", .only_flag = true,
	  .help = "The cgroup that the load runs in: its own service, or a container of a pod that "
		  "does not exist otherwise, so that exporters show it as a pod." },
	TEXT_FLAG(
		"load-command", OWN(load_command), "", "COMMAND",
		"A command that /bin/sh runs as the load, between two phases without one. It is "
		"ended with its phase, if it has not ended by itself; its output goes to standard "
		"error."),
	TEXT_FLAG("vm", OWN(vm), "", "VM",
		  "A virtual machine on this host, by its UUID, name or pid; \"auto\" is the only "
		  "one. Its CPU time is judged, and with --load-command, which makes it work, "
		  "also its energy."),
	TEXT_FLAG("guest-exporter", OWN(guest), "", "URL",
		  "The page of an exporter inside that virtual machine, judged by what the first "
		  "--exporter charges to it."),
	TEXT_FLAG("gpu-load", OWN(gpu_load), "", "COMMAND",
		  "The same with a command that uses GPUs: the energy of the zone gpu is judged, "
		  "and not that of CPUs."),
	{ "step", NULL, OPTION_DURATION, OWN(step_ns),
	  OPTION_RANGE(100 * NSEC_PER_MSEC, 60 * NSEC_PER_SEC), .default_text = "1s",
	  .metavar = "DURATION", .only_flag = true,
	  .help = "The time between two readings of the meters and the exporters." },
	{ "timeout", NULL, OPTION_DURATION, OWN(timeout_ns),
	  OPTION_RANGE(100 * NSEC_PER_MSEC, 60 * NSEC_PER_SEC), .default_text = "5s",
	  .metavar = "DURATION", .only_flag = true,
	  .help = "The time that an exporter may take to answer." },
	{ "truth", NULL, OPTION_ENUM, OWN(source), .choices = truth_choices, .default_text = "auto",
	  .metavar = "SOURCE", .only_flag = true,
	  .help = "The meters of this machine to compare with. auto uses the first that it finds: "
		  "rapl-sysfs, perf, msr, acpi, ipmi. Without any, only what must always hold is "
		  "judged." },
	TEXT_FLAG("truth.file", OWN(file), "", "FILE",
		  "For --truth=pdu-file: a file with the power of the whole machine in W, which "
		  "another program writes at least once a minute, such as from a PDU."),
	TEXT_FLAG("truth.law", OWN(law), "", "FORMULA",
		  "For --truth=law, in a laboratory: the power as a formula of the machine's CPU "
		  "time, such as idle=20,cpu=10 for 20 W, and 10 W for each busy CPU. "
		  "zone=NAME names another zone than package."),
	TEXT_FLAG("truth.redfish-url", OWN(redfish.url), "", "URL",
		  "For --truth=redfish: the management controller, https://HOST, or the chassis of "
		  "this machine, https://HOST/redfish/v1/Chassis/ID."),
	TEXT_FLAG("truth.redfish-user", OWN(redfish.user), "", "NAME",
		  "The user for --truth=redfish."),
	TEXT_FLAG("truth.redfish-password-file", OWN(redfish.password_file), "", "FILE",
		  "A file with the password of that user."),
	TEXT_FLAG("truth.redfish-token-file", OWN(redfish.token_file), "", "FILE",
		  "A file with a token for --truth=redfish, instead of a user."),
	TEXT_FLAG("truth.redfish-ca-file", OWN(redfish.ca_file), "", "FILE",
		  "The authorities that verify the management controller's certificate, as PEM; "
		  "the system's by default."),
	SWITCH_FLAG("truth.redfish-insecure", OWN(redfish.insecure),
		    "Do not verify the management controller's certificate."),
	TEXT_FLAG("truth.nvml-library", OWN(nvml), "libnvidia-ml.so.1", "NAME",
		  "The library that reads NVIDIA GPUs, which is part of their driver. GPUs are "
		  "compared with the zone gpu, whatever --truth is except none."),
	TEXT_FLAG("output", OWN(output), "", "DIR", REPORT_OUTPUT_HELP),
	TEXT_FLAG("host.sysfs", OWN(sysfs), "/sys", "FOLDER", "Where sysfs is mounted."),
	TEXT_FLAG("host.procfs", OWN(procfs), "/proc", "FOLDER", "Where procfs is mounted."),
	{ "max-error", NULL, OPTION_STRING, OWN(max_error), .default_text = "5%",
	  .metavar = "PERCENT", .only_flag = true, .check = percent_check,
	  .help = "The largest permitted error of the energy of each zone of the node." },
	{ "max-effect-error", NULL, OPTION_STRING, OWN(max_effect_error), .default_text = "10%",
	  .metavar = "PERCENT", .only_flag = true, .check = percent_check,
	  .help = "The largest permitted error of CPU time, and of the energy that is charged to "
		  "the load." },
	{ "max-coverage-error", NULL, OPTION_STRING, OWN(max_coverage_error), .default_text = "5%",
	  .metavar = "PERCENT", .only_flag = true, .check = percent_check,
	  .help = "By how much less often than it says the published error bound of an estimate "
		  "may hold: 5% means in 85% of the intervals for a bound of 90%." },
	{ "max-estimate-error", NULL, OPTION_STRING, OWN(max_estimate_error), .default_text = "20%",
	  .metavar = "PERCENT", .only_flag = true, .check = percent_check,
	  .help = "For --estimates: the largest permitted error of the energy of each zone that a "
		  "model estimates." },
	{ "max-regression", NULL, OPTION_STRING, OWN(max_regression), .default_text = "1%",
	  .metavar = "PERCENT", .only_flag = true, .check = percent_check,
	  .help = "By how much the mean error of an exporter may exceed that of the first exporter "
		  "of the same kind, in percent of the energy." },
	{ "max-lag", NULL, OPTION_DURATION, OWN(max_lag_ns), OPTION_RANGE(0, 600 * NSEC_PER_SEC),
	  .default_text = "10s", .metavar = "DURATION", .only_flag = true,
	  .help = "The longest delay of an exporter behind the meters." },
	{ "require", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct run_config, required, required_count, ENERGY_LEVELS),
	  .default_text = "", .may_be_empty = true, .metavar = "LEVEL", .only_flag = true,
	  .help = "A level that each exporter must have series of, such as process, container, pod "
		  "or vm. Repeat it for several." },
};
static const struct option_section sections[] = {
	{ rows, ARRAY_SIZE(rows), 0 },
	{ prometheus_flag_rows, PROMETHEUS_FLAG_COUNT, offsetof(struct run_config, prometheus) },
};

/* Options of a source are given with it, and only then. */
static int check_truth(const struct run_config *config, struct diag *diag)
{
	const struct {
		const char *option, *source, *value;
		bool is_chosen;
	} needed[] = {
		{ "truth.file", "pdu-file", config->file, config->source == TRUTH_FILE },
		{ "truth.law", "law", config->law, config->source == TRUTH_LAW },
		{ "truth.redfish-url", "redfish", config->redfish.url,
		  config->source == TRUTH_REDFISH },
	};

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (needed[i].is_chosen != (*needed[i].value != '\0'))
			return diag_set(diag, -EINVAL,
					"%s: must be given with --truth=%s, and only then",
					needed[i].option, needed[i].source);
	if (config->source != TRUTH_REDFISH)
		return 0;
	if (http_url_has_user(config->redfish.url) ||
	    strncmp(config->redfish.url, "https://", 8) != 0)
		return diag_set(
			diag, -EINVAL,
			"truth.redfish-url: must begin with https:// and must not contain a "
			"user or password");
	if ((*config->redfish.user != '\0') != (*config->redfish.password_file != '\0'))
		return diag_set(diag, -EINVAL,
				"truth.redfish-user: must be given together with "
				"truth.redfish-password-file");
	return 0;
}

static bool is_given(const struct run_config *config, const char *name)
{
	const enum option_origin *origins = config->options.origins;

	return origins && origins[option_find(&run_command_options, name)] != ORIGIN_DEFAULT;
}

/* A command is the load of one scenario, which is the default with it. */
static int check_command(const struct run_config *config, const char *option, const char *command,
			 const char *scenario, struct diag *diag)
{
	bool is_chosen = strcmp(config->scenario, scenario) == 0;

	if (is_chosen && !*command)
		return diag_set(diag, -EINVAL, "scenario: %s needs --%s=COMMAND", scenario, option);
	if (*command && !is_chosen && is_given(config, "scenario"))
		return diag_set(diag, -EINVAL,
				"%s: is a scenario of its own, without --scenario=%s", option,
				config->scenario);
	if (*config->load_command && *config->gpu_load)
		return diag_set(diag, -EINVAL,
				"gpu-load: cannot be given together with --load-command");
	return 0;
}

static int check_url(const char *option, const char *url, struct diag *diag)
{
	if (http_url_has_user(url))
		return diag_set(diag, -EINVAL,
				"%s: must not contain a user or password, since the report names "
				"the URL",
				option);
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return diag_set(diag, -EINVAL,
				"%s: must begin with http:// or https://, not \"%s\"", option, url);
	return 0;
}

static int check(const struct option_values *values, struct diag *diag)
{
	const struct run_config *config = (const struct run_config *)(const void *)values;

	int r = *config->guest ? check_url("guest-exporter", config->guest, diag) : 0;

	for (size_t i = 0; i < config->exporter_count && r == 0; i++)
		r = check_url("exporter", config->exporters[i], diag);
	if (r < 0)
		return r;
	for (size_t i = 0; i < config->estimate_count; i++)
		if (http_url_has_user(config->estimates[i]))
			return diag_set(diag, -EINVAL,
					"estimates: must not contain a user or password, since the "
					"report names the model");
	if (config->exporter_count == 0)
		return diag_set(diag, -EINVAL, "exporter: at least one URL is needed");
	if (config->quick && config->full)
		return diag_set(diag, -EINVAL, "full: cannot be given together with --quick");
	r = check_command(config, "load-command", config->load_command, LOAD_COMMAND_SCENARIO,
			  diag);
	if (r == 0)
		r = check_command(config, "gpu-load", config->gpu_load, GPU_LOAD_SCENARIO, diag);
	if (r < 0)
		return r;
	unsigned levels;
	if (*config->guest && !*config->vm)
		return diag_set(diag, -EINVAL, "guest-exporter: needs --vm");
	r = required_levels_parse(config->required, config->required_count, &levels, diag);
	if (r == 0)
		r = prometheus_flags_check(&config->prometheus, diag);
	return r < 0 ? r : check_truth(config, diag);
}

const struct option_set run_command_options = {
	.program = &validator_program,
	.base = &validator_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct run_config),
	.check = check,
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static void print_scenarios(void)
{
	for (const struct scenario *scenario = scenarios; scenario->name; scenario++)
		printf("%-16s %s\n", scenario->name, scenario->help);
}

static void print_phase(const struct plan_phase *phase)
{
	printf("  %5.0f s  %s", phase->length_s, phase->name);
	if (!phase->load)
		printf(" (no load)");
	if (phase->processes > 0)
		printf(", %u processes", phase->processes);
	printf("\n");
}

static void print_plan(const struct observation *observation)
{
	const struct plan *plan = &observation->plan;
	const struct truth *truth = &observation->truth;
	size_t gpus = 0;

	for (size_t i = 0; i < truth->meter_count; i++)
		gpus += strcmp(truth->meters[i].kind, TRUTH_GPU) == 0;
	printf("Plan, %.0f s:\n", plan_length_s(plan));
	for (size_t i = 0; i < plan->count; i++)
		print_phase(&plan->phases[i]);
	for (size_t i = 0; i < plan->left_out_count; i++)
		printf("Left out: %s. %s\n", plan->left_out[i].scenario->name,
		       plan->left_out[i].reason);
	if (plan->limits_frequency)
		printf("Changes: scaling_max_freq of all CPUs, until the end of the run. A process "
		       "of its own restores it, also if this one is killed.\n");
	for (size_t i = 0; i < observation->exporter_count; i++)
		printf("%s: %s\n", observation->models[i].pid > 0 ? "Estimates" : "Exporter",
		       observation->exporters[i]->url);
	if (observation->vm.pid)
		printf("Virtual machine: pid %d, %s %s\n", observation->vm.pid,
		       observation->vm.uuid, observation->vm.name);
	if (truth->zone_count == 0)
		printf("Truth: none; only what must always hold is judged.\n");
	else if (truth->source == TRUTH_NONE)
		printf("Truth: GPUs only.\n");
	else
		printf("Truth: %s, %zu meters, with an assumed error of ±%g %%.\n",
		       truth_source_name(truth->source), truth->meter_count - gpus,
		       100 * truth->error);
	for (size_t i = 0; i < truth->zone_count; i++)
		printf("  %s: %s\n", truth->zones[i].kind, truth->zones[i].series->query);
	if (gpus > 0)
		printf("  GPUs have an assumed error of ±%g %%.\n", 100 * TRUTH_GPU_ERROR);
	(void)fflush(stdout);
}

static void show_progress(const struct observation *observation, double left_s)
{
	size_t at = observation->phase_count - 1;

	(void)fprintf(stderr, "\r\033[K%s (%zu of %zu), %.0f s left",
		      observation->phases[at].phase.name, at + 1, observation->plan.count, left_s);
}

static void print_loads(const struct observation *observation)
{
	for (size_t i = 0; i < observation->phase_count; i++) {
		const struct load_result *load = &observation->phases[i].load;

		if (load->outcome[0])
			printf("Load in %s: the command %s, %.2f s of CPU time.\n",
			       observation->phases[i].phase.name, load->outcome, load->cpu_s);
		if (load->units == 0)
			continue;
		printf("Load in %s: %llu %s, %.2f s of CPU time", observation->phases[i].phase.name,
		       (unsigned long long)load->units, observation->plan.phases[i].load->unit,
		       load->cpu_s);
		if (load->other_cpu_s > 0)
			printf(", its neighbour %.2f s", load->other_cpu_s);
		if (load->processes > 0)
			printf(", %llu processes", (unsigned long long)load->processes);
		printf(".\n");
	}
}

static void print_results(const struct observation *observation, const struct result_list *list)
{
	if (observation->truth.skipped > 0)
		printf("The truth could not be read %llu times: %s.\n",
		       (unsigned long long)observation->truth.skipped,
		       observation->truth.failure.text);
	print_loads(observation);
	for (size_t i = 0; i < list->count; i++) {
		const struct result *result = list->items[i];

		printf("%-14s %s", verdict_name(result->verdict), result->name);
		if (result->cause != CAUSE_NONE)
			printf(" (%s)", cause_name(result->cause));
		if (observation->exporter_count > 1 && result->exporter[0])
			printf(" of %s", result->exporter);
		printf(": %s\n", result->reason);
		/* A guest that has the host's changes may still assume a floor. */
		if (strncmp(result->name, "guest/", 6) == 0 && result->has_errors)
			printf("               scale %.4g, offset %+.4g W\n", result->errors.scale,
			       result->errors.offset);
	}
	printf("Verdict: %s. %zu pass, %zu fail, %zu inconclusive, %zu not applicable.\n",
	       verdict_name(result_list_verdict(list)), result_list_count(list, VERDICT_PASS),
	       result_list_count(list, VERDICT_FAIL), result_list_count(list, VERDICT_INCONCLUSIVE),
	       result_list_count(list, VERDICT_NOT_APPLICABLE));
}

static int too_many(struct diag *diag)
{
	return diag_set(diag, -E2BIG, "estimates: at most %d exporters and models at once",
			EXPORTERS_MAX);
}

/* What all exporters of a run have in common: everything but the URL. */
static struct exporter_options common_options(const struct run_config *config,
					      struct observation *observation)
{
	return (struct exporter_options){
		.timeout_ms = config->timeout_ns / NSEC_PER_MSEC,
		.mine = &observation->load_rows,
		.procfs = config->procfs,
		.cpus = (double)sysconf(_SC_NPROCESSORS_ONLN),
		.max_lag_s = observation->max_lag_s,
	};
}

static int add_exporter(const struct run_config *config, const char *url,
			struct observation *observation, struct diag *diag)
{
	struct exporter_options options = common_options(config, observation);
	size_t at = observation->exporter_count;

	options.url = url;
	if (at == EXPORTERS_MAX)
		return too_many(diag);
	int r = exporter_open(&options, &observation->exporters[at], diag);
	if (r == 0)
		observation->exporter_count++;
	return r;
}

static int add_estimates(const struct run_config *config, const char *model,
			 struct observation *observation, struct diag *diag)
{
	const struct model_exporter_options options = { config->kepler, model, config->sysfs,
							config->procfs };
	size_t at = observation->exporter_count;

	if (at == EXPORTERS_MAX)
		return too_many(diag);
	/* From here on, observation_release() ends it. */
	int r = model_exporter_start(&options, &observation->models[at], diag);
	return r < 0 ? r : add_exporter(config, observation->models[at].url, observation, diag);
}

/* With --estimates or --prometheus, the exporter's default address is not meant. */
static bool judges_exporters(const struct run_config *config)
{
	bool has_others = config->estimate_count > 0 || *config->prometheus.url;
	return !has_others || is_given(config, "exporter");
}

static int prepare_vm(const struct run_config *config, struct observation *observation,
		      struct diag *diag)
{
	const struct exporter_options options = {
		.url = config->guest,
		.timeout_ms = config->timeout_ns / NSEC_PER_MSEC,
		.max_lag_s = observation->max_lag_s,
	};
	int r = *config->vm ? vm_process_find(config->procfs, config->vm, &observation->vm, diag)
			    : 0;

	return r < 0 || !*config->guest ? r : exporter_open(&options, &observation->guest, diag);
}

static int prepare(const struct run_config *config, struct observation *observation,
		   struct diag *diag)
{
	const struct truth_options truth = {
		.source = (enum truth_source)config->source,
		.sysfs = config->sysfs,
		.procfs = config->procfs,
		.devices = "/dev",
		.file = config->file,
		.law = config->law,
		.nvml = config->nvml,
		.redfish = { config->redfish.url, config->redfish.user,
			     config->redfish.password_file, config->redfish.token_file,
			     config->redfish.ca_file, config->redfish.insecure },
	};
	int r = truth_open(&truth, &observation->truth, diag);
	cpu_set_t allowed;

	if (r == 0 && truth_inventory_make(&truth, &observation->inventory) < 0)
		r = diag_set(diag, -ENOMEM, "out of memory");
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return diag_set(diag, -errno, "the CPUs of this process cannot be read: %s",
				strerror(errno));
	host_cpus_read(config->sysfs, &allowed, &observation->cpus);
	plan_make(config->chosen, &observation->cpus, S_PER_NS * (double)config->duration_ns,
		  &observation->plan);
	if (r == 0)
		r = prepare_vm(config, observation, diag);
	for (size_t i = 0; i < config->exporter_count && r == 0 && judges_exporters(config); i++)
		r = add_exporter(config, config->exporters[i], observation, diag);
	for (size_t i = 0; i < config->estimate_count && r == 0; i++)
		r = add_estimates(config, config->estimates[i], observation, diag);
	const struct exporter_options common = common_options(config, observation);
	if (r == 0)
		r = prometheus_flags_open(&config->prometheus, &common, observation, diag);
	return r;
}

/* A run that was ended early is not a pass, whatever it has found so far. */
static int add_interruption(const struct observation *observation, struct result_list *list)
{
	struct result *result = stop ? result_new("run/complete", RESULT_CORRECTNESS) : NULL;

	if (!result)
		return stop ? -ENOMEM : 0;
	result_set_verdict(result, VERDICT_INCONCLUSIVE,
			   "The run was interrupted in phase %zu of %zu.", observation->phase_count,
			   observation->plan.count);
	return result_list_add(list, result);
}

/* A command that fails has hardly done what was to be measured. */
static int add_failed_command(const struct observation *observation, struct result_list *list)
{
	int r = 0;

	for (size_t i = 0; i < observation->phase_count && r == 0; i++) {
		const struct load_result *load = &observation->phases[i].load;

		if (!load->has_failed)
			continue;
		struct result *result = result_new("run/command", RESULT_CORRECTNESS);
		if (!result)
			return -ENOMEM;
		result_set_verdict(result, VERDICT_INCONCLUSIVE, "The command of the load %s.",
				   load->outcome);
		r = result_list_add(list, result);
	}
	return r;
}

/* A scenario that this machine cannot run is "not applicable", with its reason. */
static int add_left_out(const struct plan *plan, struct result_list *list)
{
	int r = 0;

	for (size_t i = 0; i < plan->left_out_count && r == 0; i++) {
		char name[RESULT_NAME_MAX];

		(void)snprintf(name, sizeof(name), "scenario/%s", plan->left_out[i].scenario->name);
		struct result *result = result_new(name, RESULT_ACCURACY);
		if (!result)
			return -ENOMEM;
		result_set_verdict(result, VERDICT_NOT_APPLICABLE, "%s", plan->left_out[i].reason);
		r = result_list_add(list, result);
	}
	return r;
}

static int judge(const struct run_config *config, const struct option_args *args,
		 struct observation *observation)
{
	struct check_bounds bounds = { .max_lag_s = S_PER_NS * (double)config->max_lag_ns };
	CLEANUP(result_list_release) struct result_list list = { 0 };

	/* The options' checks have read them before. */
	(void)percent_parse(config->max_error, &bounds.max_error);
	(void)percent_parse(config->max_effect_error, &bounds.max_effect_error);
	(void)percent_parse(config->max_coverage_error, &bounds.max_coverage_error);
	(void)percent_parse(config->max_estimate_error, &bounds.max_estimate_error);
	(void)percent_parse(config->max_regression, &bounds.max_regression);
	(void)required_levels_parse(config->required, config->required_count,
				    &bounds.required_levels, &(struct diag){ "" });
	if ((observation->plan.count > 0 && check_observation(observation, &bounds, &list) < 0) ||
	    add_left_out(&observation->plan, &list) < 0 ||
	    add_failed_command(observation, &list) < 0 ||
	    add_interruption(observation, &list) < 0) {
		(void)fprintf(stderr, "kepler-validator: out of memory\n");
		return PROGRAM_USAGE;
	}
	print_results(observation, &list);
	struct diag diag = { "" };
	if (report_output_write(config->output, &list, "run", args, &diag) < 0) {
		diag_print(&diag, validator_program.name, stderr);
		return PROGRAM_USAGE;
	}
	return verdict_exit_code(result_list_verdict(&list));
}

static int run(const struct run_config *config, const struct option_args *args)
{
	const struct sigaction action = { .sa_handler = on_signal };
	CLEANUP(observation_release)
	struct observation observation = {
		.sysfs = config->sysfs,
		.command = *config->load_command ? config->load_command
			   : *config->gpu_load   ? config->gpu_load
						 : NULL,
		.load_shape = (enum load_cgroup_shape)config->load_cgroup,
		.procfs = config->procfs,
		.step_s = S_PER_NS * (double)config->step_ns,
		.max_lag_s = S_PER_NS * (double)config->max_lag_ns,
		.progress = isatty(STDERR_FILENO) ? show_progress : NULL,
	};
	struct diag diag = { "" };

	/* Before the run, not after it. */
	if (report_output_check(config->output, &diag) < 0) {
		diag_print(&diag, validator_program.name, stderr);
		return PROGRAM_USAGE;
	}
	int r = prepare(config, &observation, &diag);

	if (r < 0) {
		diag_print(&diag, validator_program.name, stderr);
		return PROGRAM_USAGE;
	}
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGHUP, &action, NULL);
	print_plan(&observation);
	r = observation_run(&observation, &stop, &diag);
	if (observation.progress)
		(void)fputs("\r\033[K", stderr);
	if (r < 0) {
		diag_print(&diag, validator_program.name, stderr);
		return PROGRAM_USAGE;
	}
	return judge(config, args, &observation);
}

/* What --full stands for; --quick stands for the defaults. */
static void use_preset(struct run_config *config)
{
	bool is_full = config->full && !is_given(config, "scenario");

	if (*config->load_command)
		config->chosen = scenario_find(LOAD_COMMAND_SCENARIO);
	else if (*config->gpu_load)
		config->chosen = scenario_find(GPU_LOAD_SCENARIO);
	else
		config->chosen = scenario_find(is_full ? "full" : config->scenario);
	if (config->full && !is_given(config, "duration"))
		config->duration_ns = 40 * 60 * NSEC_PER_SEC;
}

int run_main(int argc, char *const *argv, char *const *environ_)
{
	const struct option_args args = { .argc = argc, .argv = argv, .environ_ = environ_ };
	struct run_config config = { .exporter_count = 0 };

	if (options_load_or_print(&run_command_options, &args, &config.options, stderr) < 0)
		return PROGRAM_USAGE;
	use_preset(&config);
	int status = EXIT_SUCCESS;
	if (config.chosen)
		status = run(&config, &args);
	else
		print_scenarios();
	options_release(&run_command_options, &config.options);
	return status;
}
