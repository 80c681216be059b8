// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/watts_text.h"
#include "doctor/doctor_meters.h"
#include "estimate/component_estimate.h"
#include "estimate/platform_estimate.h"
#include "model/platform_power.h"
#include "model/vm_share.h"

/* The estimate for this machine, and its bound. */
static void examine_bound(struct findings *findings, const struct zone_source *platform)
{
	char idle_bound[WATTS_TEXT_MAX], full_bound[WATTS_TEXT_MAX];
	struct power_estimate idle, full;
	struct machine_facts facts;

	platform_estimate_facts(platform, &facts);
	power_model_estimate(&platform_power_model, &facts, 0, &idle);
	power_model_estimate(&platform_power_model, &facts, 1, &full);
	watts_bound_text(idle_bound, idle.bound_w);
	watts_bound_text(full_bound, full.bound_w);
	findings_add(findings, FINDING_NOTE, "energy", NULL,
		     "for %s of %u cores in %u %s, design power %u W each, the model estimates "
		     "%.0f W idle and %.0f W at full load; nine of ten unseen machines were within "
		     "±%s W idle and ±%s W at full load",
		     platform->is_vm ? "a typical host of this VM" : "this machine", facts.cores,
		     facts.sockets, facts.sockets == 1 ? "socket" : "sockets", facts.cpu.tdp_w,
		     idle.idle_w, full.idle_w + full.dynamic_w, idle_bound, full_bound);
	if (full.outside)
		findings_add(findings, FINDING_NOTE, "energy", NULL,
			     "this machine is outside the model's population (servers of %.0f to "
			     "%.0f): the bound is doubled and only a guess",
			     platform_power_model.weights->year.least,
			     platform_power_model.weights->year.most);
}

/* The model of --model.url. */
void doctor_examine_fetch(struct findings *findings, const struct sources *sources,
			  const struct config *config)
{
	struct model_fetch_stats stats;
	const struct model_source *url = model_sources_url(&sources->model_sources, &stats);

	if (!url)
		return;
	if (url->refused.text[0])
		findings_add(findings, FINDING_FIX, "energy",
			     "docs/models.md lists the counters that each model needs",
			     "the model of --model.url is not used: %s", url->refused.text);
	if (stats.last_error[0])
		findings_add(findings, FINDING_FIX, "energy",
			     "kepler retries by itself; check model.url", "no newer model: %s; %s",
			     stats.last_error,
			     stats.model[0] ? "the last good model is used" : "there is none yet");
	if (stats.cache_error[0])
		findings_add(findings, FINDING_FIX, "energy",
			     "check that kepler can write to "
			     "host.state-dir",
			     "the fetched model is not cached: %s", stats.cache_error);
	if (stats.model[0])
		findings_add(findings, FINDING_NOTE, "energy", NULL,
			     "the model \"%.90s\" was fetched from %.200s%s", stats.model,
			     config->model_url,
			     stats.is_cached ? " at an earlier start (cache)" : "");
}

/* Trained models, and why one is not used. */
void doctor_examine_models(struct findings *findings, const struct sources *sources)
{
	const struct zone_source *models = sources->estimates.of[ESTIMATE_MODELS];
	const struct model_sources *origins = &sources->model_sources;

	for (size_t i = 0; i < origins->file_count; i++) {
		if (origins->list[i].refused.text[0])
			findings_add(
				findings, FINDING_FIX, "energy",
				"train or fetch another one; docs/models.md explains what makes "
				"a model unusable",
				"a model of --model.file is not used: %s",
				origins->list[i].refused.text);
	}
	if (origins->chosen.text[0])
		findings_add(findings, FINDING_NOTE, "energy", NULL, "of several models: %s",
			     origins->chosen.text);
	for (size_t i = 0; i < zone_source_count(models); i++) {
		struct model_state state;
		char error[64] = "its error is not known", bound[WATTS_TEXT_MAX];

		zone_source_state(models, i, &state);
		if (!isnan(state.error_w)) {
			watts_bound_text(bound, state.error_w);
			(void)snprintf(error, sizeof(error), "90 %% of its errors are below %s W",
				       bound);
		}
		findings_add(findings, FINDING_NOTE, "energy", NULL,
			     "the zone \"%s\" is ESTIMATED by the trained model %s (%s), %s; %s%s",
			     zone_kind_name(zone_source_zone(models, i)->kind), state.model,
			     state.output, state.reason, error,
			     state.outside ? "; this machine's load is now outside the model's "
					     "training data"
					   : "");
	}
}

static void examine_stand_in(struct findings *findings)
{
	const struct power_model *model = &platform_power_model;

	findings_add(findings, FINDING_NOTE, "energy", NULL,
		     "the zone \"platform\" is ESTIMATED by model %s, fitted to %s; its error on "
		     "unseen machines averages %.0f %% (%.0f W); every series has "
		     "source=\"trained_power_model\"",
		     model->name, model->trained_on, model->loo_mape_percent, model->loo_mae_w);
}

/* Where the number of the host's CPUs comes from, and the option that overrides it. */
static const char *host_cpus_source(const struct zone_source *estimate,
				    const struct host_info *host)
{
	static const char *const texts[][2] = {
		{ "option", "--vm.host-cpus" },
		{ "instance_type", "by the instance type" },
		{ "model", "by the model's machine; --vm.host-cpus" },
		{ "processor", "by the processor's name, a guess; --vm.host-cpus" },
	};
	const char *source = estimates_host_cpus_source(estimate, host);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (strcmp(texts[i][0], source) == 0)
			return texts[i][1];
	}
	return "a typical host's, a guess; --vm.host-cpus";
}

static void examine_instance_type(struct findings *findings, const struct host_info *host)
{
	if (host->vm_cpus_by_type)
		findings_add(findings, FINDING_NOTE, "energy", "if it does not: --vm.host-cpus",
			     "the host of an instance of type %s (%s) has %u logical CPUs, on %u "
			     "cores",
			     host->dmi_product, host->dmi_vendor, host->vm_host_cpus,
			     host->vm_host_cores);
	if (host->vm_cpu_by_type)
		findings_add(findings, FINDING_NOTE, "energy", "if it is not: --vm.host-processor",
			     "the hypervisor hides the processor's name; according to the instance "
			     "type %s it is %s",
			     host->dmi_product, host->cpu_model);
}

/* The host that an estimate in a virtual machine assumes. */
static void examine_vm(struct findings *findings, const struct sources *sources)
{
	const struct zone_source *estimate = estimates_of_vm(&sources->estimates);
	struct vm_share share;

	if (!estimate)
		return;
	zone_source_vm_share(estimate, 0, &share);
	findings_add(
		findings, FINDING_NOTE, "energy", NULL,
		"in a VM only the dynamic power of its own vCPUs is estimated; idle power is "
		"the host's and has no series here. Assumed: this VM has %.1f %% of its host's "
		"logical CPUs (%s), and the host's other CPUs are busy for %.0f to %.0f %% of "
		"the time (--vm.neighbour-load). Facts in the configuration reduce the error",
		share.share * 100, host_cpus_source(estimate, &sources->host), share.load_low * 100,
		share.load_high * 100);
}

/* Packages and memory, if they are estimated in addition to the machine. */
static void examine_components(struct findings *findings, const struct sources *sources)
{
	const struct zone_source *components = sources->estimates.of[ESTIMATE_COMPONENTS];
	const struct component_model *model = &builtin_component_model;
	struct power_estimate idle[COMPONENT_COUNT], full[COMPONENT_COUNT];

	if (!components)
		findings_add(findings, FINDING_NOTE, "energy", "--model.parts=all",
			     "package and dram are not estimated in addition to \"platform\"");
	if (!components)
		return;
	component_estimate_power(components, 0, idle);
	component_estimate_power(components, 1, full);
	findings_add(findings, FINDING_NOTE, "energy", "to leave them out: --model.parts=none",
		     "parts of \"platform\" are ESTIMATED by model %s, fitted to %s, all of them "
		     "Intel's; its error on unseen machines averages %.0f %% (package) and %.0f %% "
		     "(dram)",
		     model->name, model->trained_on, model->mape_percent[COMPONENT_PACKAGE],
		     model->mape_percent[COMPONENT_DRAM]);
	for (size_t i = 0; i < zone_source_count(components); i++) {
		const struct zone *zone = zone_source_zone(components, i);
		size_t c = zone->kind == ZONE_DRAM ? COMPONENT_DRAM : COMPONENT_PACKAGE;
		char idle_bound[WATTS_TEXT_MAX], full_bound[WATTS_TEXT_MAX];

		watts_bound_text(idle_bound, idle[c].bound_w);
		watts_bound_text(full_bound, full[c].bound_w);
		findings_add(findings, FINDING_NOTE, "energy", NULL,
			     "%s of %s: %.0f W idle and %.0f W at full load, 90 %% of machines "
			     "within ±%s W and ±%s W%s",
			     zone_kind_name(zone->kind),
			     sources->host.is_vm ? "a typical host of this VM" : "this machine",
			     idle[c].idle_w, full[c].idle_w + full[c].dynamic_w, idle_bound,
			     full_bound,
			     full[c].outside ? "; the data has no similar machine: the bound is "
					       "doubled and only a guess"
					     : "");
	}
}

void doctor_examine_estimate(struct findings *findings, const struct sources *sources,
			     const struct config *config)
{
	const struct zone_source *platform = sources->estimates.of[ESTIMATE_PLATFORM];

	doctor_examine_no_meter(findings, sources, config);
	if (platform && !platform->is_spare) {
		examine_stand_in(findings);
		examine_bound(findings, platform);
		examine_components(findings, sources);
	}
	if (sources->host.is_vm) {
		examine_instance_type(findings, &sources->host);
		examine_vm(findings, sources);
	}
}
