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
#include "kepler-validator/checks/checks.h"
#include "kepler-validator/checks/patience.h"
#include "kepler-validator/checks/percent.h"
#include "kepler-validator/checks/required_levels.h"
#include "kepler-validator/own_guest.h"
#include "kepler-validator/report_output.h"
#include "kepler-validator/run_options.h"
#include "kepler-validator/run_text.h"
#include "kepler-validator/validator_options.h"
#include "options/layers.h"
#include "options/program.h"

#define S_PER_NS 1e-9

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static int too_many(struct diag *diag)
{
	return diag_set(diag, -E2BIG, "estimates: at most %d exporters and models at once",
			EXPORTERS_MAX);
}

/* The settings that all exporters of a run share: everything except the URL. */
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
	return !has_others || run_option_is_given(config, "exporter");
}

static int prepare_vm(const struct run_config *config, struct observation *observation,
		      struct diag *diag)
{
	const struct exporter_options options = {
		.url = config->guest,
		.timeout_ms = config->timeout_ns / NSEC_PER_MSEC,
		.max_lag_s = observation->max_lag_s,
	};

	if (own_guest_is_wanted(observation)) {
		observation->begin = own_guest_start;
		observation->guest_options = guest_flags_options(&config->vm_flags);
		guest_uuid_make(observation->vm.uuid);
		(void)snprintf(observation->vm.name, sizeof(observation->vm.name), GUEST_NAME);
	}
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

/* A phase that was longer than planned, with its reason. */
static int add_longer(const struct observation *observation, struct result_list *list)
{
	int r = 0;

	for (size_t i = 0; i < observation->phase_count && r == 0; i++) {
		const struct observed_phase *phase = &observation->phases[i];
		char name[RESULT_NAME_MAX];

		if (phase->longer_s <= 0)
			continue;
		(void)snprintf(name, sizeof(name), "run/longer/%s", phase->phase.name);
		struct result *result = result_new(name, RESULT_CORRECTNESS);
		if (!result)
			return -ENOMEM;
		result_set_verdict(result, VERDICT_NOT_APPLICABLE,
				   "The phase was %.0f s longer than planned, because %s.",
				   phase->longer_s, phase->why);
		r = result_list_add(list, result);
	}
	return r;
}

/* The options' checks have read them before. */
static struct check_bounds bounds_of(const struct run_config *config)
{
	struct check_bounds bounds = { .max_lag_s = S_PER_NS * (double)config->max_lag_ns };

	(void)percent_parse(config->max_error, &bounds.max_error);
	(void)percent_parse(config->max_effect_error, &bounds.max_effect_error);
	(void)percent_parse(config->max_coverage_error, &bounds.max_coverage_error);
	(void)percent_parse(config->max_estimate_error, &bounds.max_estimate_error);
	(void)percent_parse(config->max_regression, &bounds.max_regression);
	(void)required_levels_parse(config->required, config->required_count,
				    &bounds.required_levels, &(struct diag){ "" });
	return bounds;
}

static int judge(const struct run_config *config, const struct option_args *args,
		 struct observation *observation)
{
	CLEANUP(result_list_release) struct result_list list = { 0 };

	if ((observation->plan.count > 0 &&
	     check_observation(observation, observation->bounds, &list) < 0) ||
	    add_longer(observation, &list) < 0 || add_left_out(&observation->plan, &list) < 0 ||
	    add_failed_command(observation, &list) < 0 || own_guest_check(observation, &list) < 0 ||
	    add_interruption(observation, &list) < 0) {
		(void)fprintf(stderr, "kepler-validator: out of memory\n");
		return PROGRAM_USAGE;
	}
	run_text_results(observation, &list);
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
	const struct check_bounds bounds = bounds_of(config);
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
		.progress = isatty(STDERR_FILENO) ? run_text_progress : NULL,
		.needs_more = patience_is_needed,
		.bounds = &bounds,
		.spare_s = patience_s(S_PER_NS * (double)config->duration_ns),
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
	run_text_plan(&observation);
	r = observation_run(&observation, &stop, &diag);
	if (observation.progress)
		(void)fputs("\r\033[K", stderr);
	if (r < 0) {
		diag_print(&diag, validator_program.name, stderr);
		return PROGRAM_USAGE;
	}
	return judge(config, args, &observation);
}

int run_main(int argc, char *const *argv, char *const *environ_)
{
	const struct option_args args = { .argc = argc, .argv = argv, .environ_ = environ_ };
	struct run_config config = { .exporter_count = 0 };

	if (options_load_or_print(&run_command_options, &args, &config.options, stderr) < 0)
		return PROGRAM_USAGE;
	run_options_use_presets(&config);
	int status = EXIT_SUCCESS;
	if (config.chosen)
		status = run(&config, &args);
	else
		run_text_scenarios();
	options_release(&run_command_options, &config.options);
	return status;
}
