// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/run_options.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "kepler-validator/checks/percent.h"
#include "kepler-validator/checks/required_levels.h"
#include "kepler-validator/report_output.h"
#include "kepler-validator/validator_options.h"
#include "net/http_url.h"
#include "options/operands.h"
#include "options/program.h"

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
#define VM_SCENARIO           "vm"

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
	  .help = "URL of the metrics page of an exporter to judge. Repeat the option to judge "
		  "several at once. The kind of exporter is recognized by its metrics." },
	{ "estimates", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct run_config, estimates, estimate_count, EXPORTERS_MAX),
	  .default_text = "", .may_be_empty = true, .metavar = "MODEL", .only_flag = true,
	  .help = "Judge the estimates of a model by this machine's meters: builtin, a model file, "
		  "or the URL of a model or of a model server. For each model, a second Kepler "
		  "without meters runs during the trial. Repeat the option for several models. "
		  "Without --exporter, only estimates are judged." },
	TEXT_FLAG("kepler", OWN(kepler), "", "FILE",
		  "For --estimates: path of the program kepler. Empty: next to this program, or "
		  "in PATH."),
	{ "scenario", NULL, OPTION_STRING, OWN(scenario), .default_text = "quick",
	  .metavar = "NAME", .only_flag = true, .check = check_scenario,
	  .help = "Loads to run; \"list\" prints the scenarios and runs none." },
	{ "duration", NULL, OPTION_DURATION, OWN(duration_ns),
	  OPTION_RANGE(10 * NSEC_PER_SEC, 3600 * NSEC_PER_SEC), .default_text = "3m",
	  .metavar = "DURATION", .only_flag = true, .help = "Total time of all phases." },
	SWITCH_FLAG("quick", OWN(quick),
		    "Short for --scenario=quick --duration=3m, which are the defaults. Either "
		    "option takes precedence if given."),
	SWITCH_FLAG("full", OWN(full),
		    "Short for --scenario=full --duration=40m. Either option takes precedence if "
		    "given."),
	{ "load-cgroup", NULL, OPTION_ENUM, OWN(load_cgroup), .choices = cgroup_choices,
	  .default_text = "own", .metavar = "SHAPE", .only_flag = true,
	  .help = "Cgroup in which the load runs. own: a service of its own. pod: a cgroup named "
		  "like a pod's container, so that exporters show the load as a pod." },
	TEXT_FLAG("load-command", OWN(load_command), "", "COMMAND",
		  "Command that /bin/sh runs as the load, between two phases without a load. It is "
		  "terminated at the end of its phase if it is still running. Its output goes to "
		  "standard error."),
	TEXT_FLAG(
		"vm", OWN(vm), "", "VM",
		"Virtual machine on this host: its UUID, name or pid, or \"auto\" if there is only "
		"one. Its CPU time is judged and, if --load-command makes it work, its energy, "
		"too."),
	TEXT_FLAG("guest-exporter", OWN(guest), "", "URL",
		  "URL of the metrics page of an exporter inside that virtual machine. It is "
		  "judged by the energy that the first --exporter charges to the machine."),
	TEXT_FLAG("gpu-load", OWN(gpu_load), "", "COMMAND",
		  "Like --load-command, for a command that uses GPUs: the energy of the zone gpu "
		  "is judged instead of the CPUs' energy."),
	{ "step", NULL, OPTION_DURATION, OWN(step_ns),
	  OPTION_RANGE(100 * NSEC_PER_MSEC, 60 * NSEC_PER_SEC), .default_text = "1s",
	  .metavar = "DURATION", .only_flag = true,
	  .help = "Time between two readings of the meters and the exporters." },
	{ "timeout", NULL, OPTION_DURATION, OWN(timeout_ns),
	  OPTION_RANGE(100 * NSEC_PER_MSEC, 60 * NSEC_PER_SEC), .default_text = "5s",
	  .metavar = "DURATION", .only_flag = true,
	  .help = "Time limit for an exporter's response." },
	{ "truth", NULL, OPTION_ENUM, OWN(source), .choices = truth_choices, .default_text = "auto",
	  .metavar = "SOURCE", .only_flag = true,
	  .help = "Meters of this machine to compare with. auto: the first one found of "
		  "rapl-sysfs, perf, msr, acpi and ipmi. Without a meter, only rules that hold for "
		  "every exporter are checked." },
	TEXT_FLAG("truth.file", OWN(file), "", "FILE",
		  "For --truth=pdu-file: file with the power of the whole machine in W. Another "
		  "program writes it at least once a minute, for example from a PDU."),
	TEXT_FLAG("truth.law", OWN(law), "", "FORMULA",
		  "For --truth=law, in a laboratory: power as a formula of the machine's CPU time, "
		  "such as idle=20,cpu=10 for 20 W plus 10 W for each busy CPU. zone=NAME applies "
		  "it to a zone other than package."),
	TEXT_FLAG("truth.redfish-url", OWN(redfish.url), "", "URL",
		  "For --truth=redfish: URL of the management controller, https://HOST, or of this "
		  "machine's chassis, https://HOST/redfish/v1/Chassis/ID."),
	TEXT_FLAG("truth.redfish-user", OWN(redfish.user), "", "NAME",
		  "User name for --truth=redfish."),
	TEXT_FLAG("truth.redfish-password-file", OWN(redfish.password_file), "", "FILE",
		  "File with the user's password."),
	TEXT_FLAG("truth.redfish-token-file", OWN(redfish.token_file), "", "FILE",
		  "File with a token for --truth=redfish, instead of a user and password."),
	TEXT_FLAG("truth.redfish-ca-file", OWN(redfish.ca_file), "", "FILE",
		  "CA certificates (PEM) for the management controller. Empty: the system's CA "
		  "certificates."),
	SWITCH_FLAG("truth.redfish-insecure", OWN(redfish.insecure),
		    "Do not verify the management controller's certificate."),
	TEXT_FLAG("truth.nvml-library", OWN(nvml), "libnvidia-ml.so.1", "NAME",
		  "NVIDIA management library (NVML), which is part of the driver. GPUs are "
		  "compared with the zone gpu for every --truth except none."),
	TEXT_FLAG("output", OWN(output), "", "DIR", REPORT_OUTPUT_HELP),
	TEXT_FLAG("host.sysfs", OWN(sysfs), "/sys", "FOLDER", "Where sysfs is mounted."),
	TEXT_FLAG("host.procfs", OWN(procfs), "/proc", "FOLDER", "Where procfs is mounted."),
	{ "max-error", NULL, OPTION_STRING, OWN(max_error), .default_text = "5%",
	  .metavar = "PERCENT", .only_flag = true, .check = percent_check,
	  .help = "Limit on the error of the energy of each zone of the node." },
	{ "max-effect-error", NULL, OPTION_STRING, OWN(max_effect_error), .default_text = "10%",
	  .metavar = "PERCENT", .only_flag = true, .check = percent_check,
	  .help = "Limit on the error of CPU time, and of the energy that is charged to the "
		  "load." },
	{ "max-coverage-error", NULL, OPTION_STRING, OWN(max_coverage_error), .default_text = "5%",
	  .metavar = "PERCENT", .only_flag = true, .check = percent_check,
	  .help = "Limit on how much less often than claimed the published error bound of an "
		  "estimate holds. With 5%, a 90% bound must hold in 85% of the intervals." },
	{ "max-estimate-error", NULL, OPTION_STRING, OWN(max_estimate_error), .default_text = "20%",
	  .metavar = "PERCENT", .only_flag = true, .check = percent_check,
	  .help = "For --estimates: limit on the error of the energy of each zone that a model "
		  "estimates." },
	{ "max-regression", NULL, OPTION_STRING, OWN(max_regression), .default_text = "1%",
	  .metavar = "PERCENT", .only_flag = true, .check = percent_check,
	  .help = "Limit on how much the mean error of an exporter exceeds the mean error of the "
		  "first exporter of the same kind, in percent of the energy." },
	{ "max-lag", NULL, OPTION_DURATION, OWN(max_lag_ns), OPTION_RANGE(0, 600 * NSEC_PER_SEC),
	  .default_text = "10s", .metavar = "DURATION", .only_flag = true,
	  .help = "Limit on the delay between the meters and an exporter." },
	{ "require", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct run_config, required, required_count, ENERGY_LEVELS),
	  .default_text = "", .may_be_empty = true, .metavar = "LEVEL", .only_flag = true,
	  .help = "Level for which each exporter must have series, such as process, container, pod "
		  "or vm. Repeat the option for several levels." },
};
static const struct option_section sections[] = {
	{ rows, ARRAY_SIZE(rows), 0 },
	{ prometheus_flag_rows, PROMETHEUS_FLAG_COUNT, offsetof(struct run_config, prometheus) },
	{ guest_flag_rows, GUEST_FLAG_COUNT, offsetof(struct run_config, vm_flags) },
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

bool run_option_is_given(const struct run_config *config, const char *name)
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
	if (*command && !is_chosen && run_option_is_given(config, "scenario"))
		return diag_set(diag, -EINVAL,
				"%s: is a scenario of its own, without --scenario=%s", option,
				config->scenario);
	if (*config->load_command && *config->gpu_load)
		return diag_set(diag, -EINVAL,
				"gpu-load: cannot be given together with --load-command");
	return 0;
}

/* A virtual machine runs already, or it is started for its scenario, with options of its own. */
static int check_vm(const struct run_config *config, struct diag *diag)
{
	bool is_own = strcmp(config->scenario, VM_SCENARIO) == 0;

	for (size_t i = 0; i < GUEST_FLAG_COUNT && !is_own; i++)
		if (run_option_is_given(config, guest_flag_rows[i].name))
			return diag_set(diag, -EINVAL, "%s: needs --scenario=" VM_SCENARIO,
					guest_flag_rows[i].name);
	if (is_own && *config->vm)
		return diag_set(diag, -EINVAL,
				"vm: cannot be given together with --scenario=" VM_SCENARIO
				", which starts a virtual machine");
	if (*config->guest && !*config->vm)
		return diag_set(diag, -EINVAL, "guest-exporter: needs --vm");
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
	r = check_vm(config, diag);
	if (r < 0)
		return r;
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

/* --quick stands for the defaults. */
void run_options_use_presets(struct run_config *config)
{
	bool is_full = config->full && !run_option_is_given(config, "scenario");

	if (*config->load_command)
		config->chosen = scenario_find(LOAD_COMMAND_SCENARIO);
	else if (*config->gpu_load)
		config->chosen = scenario_find(GPU_LOAD_SCENARIO);
	else
		config->chosen = scenario_find(is_full ? "full" : config->scenario);
	if (config->full && !run_option_is_given(config, "duration"))
		config->duration_ns = 40 * 60 * NSEC_PER_SEC;
}
