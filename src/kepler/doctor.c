// SPDX-License-Identifier: Apache-2.0
/*
 * Each examine_… looks at one topic and adds what it found; doctor_examine() is the order in which
 * a person wants to read it.
 */
#include "kepler/doctor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/terminal.h"
#include "base/watts_text.h"
#include "kepler/doctor_io.h"
#include "kepler/doctor_meters.h"
#include "kepler/doctor_reads.h"
#include "kepler/doctor_record.h"
#include "kepler/doctor_web.h"
#include "kepler/interval.h"
#include "kepler/live_table.h"
#include "kepler/self_stats.h"
#include "kepler/sources.h"
#include "kepler/vm_picture.h"
#include "model/platform_power.h"
#include "model/vm_share.h"
#include "service/landlock.h"
#include "service/privileges.h"
#include "snapshot/power_text.h"

#define TEXT_WIDTH_MAX 100
/* Sources that are polled have their first reading within two, and are compared from 3 s on. */
#define COMPARE_SECONDS 6

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
		findings_add(
			findings, FINDING_NOTE, "machine", NULL,
			"a virtual machine (%s): the energy of the host is not visible from here",
			host->hypervisor);
}

/* One that is read: that, and whether it is charged. */
static void examine_reading(struct findings *findings, const struct interval_engine *engine,
			    size_t z, const char *id)
{
	const struct zone *zone = interval_engine_zone(engine, z);
	double ratio = interval_engine_deviation(engine, z);
	char compared[64] = "";

	if (!isnan(ratio))
		(void)snprintf(compared, sizeof(compared), "; it reads %.1f %% %s",
			       fabs(ratio) * 100, ratio < 0 ? "less" : "more");
	findings_add(findings, FINDING_OK, "energy", NULL, "%s is read from %s (%s)%s%s", id,
		     zone->path, zone->source,
		     interval_engine_is_charged(engine, z)
			     ? ""
			     : ", and not charged: another source of the same goes before it",
		     compared);
}

static void examine_zone(struct findings *findings, const struct interval_engine *engine, size_t z)
{
	const struct zone *zone = interval_engine_zone(engine, z);
	const struct zone_status *status = interval_engine_status(engine, z);
	char id[ZONE_ID_MAX];

	zone_id(zone, id);
	if (!zone_kind_is_metered(zone->kind)) {
		findings_add(findings, FINDING_OK, "energy", NULL,
			     "%s is %s: it is shared as the energy of these parts is", id,
			     zone->path);
		return;
	}
	if (status->state == ZONE_UP) {
		examine_reading(findings, engine, z, id);
		return;
	}
	findings_add(findings, FINDING_FIX, "energy", doctor_zone_remedy(zone, status),
		     "%s (%s) is %s: %s", id, zone->path, zone_state_name(status->state),
		     doctor_zone_failure(status));
}

/* What the estimate is for this machine, and what that is worth. */
static void examine_bound(struct findings *findings, const struct sources *sources)
{
	char idle_bound[WATTS_TEXT_MAX], full_bound[WATTS_TEXT_MAX];
	struct power_estimate idle, full;
	struct machine_facts facts;
	struct vm_share share;

	if (!sources->estimate)
		return;
	estimated_meter_facts(sources->estimate, &facts, &share);
	power_model_estimate(&platform_power_model, &facts, 0, &idle);
	power_model_estimate(&platform_power_model, &facts, 1, &full);
	watts_bound_text(idle_bound, idle.bound_w);
	watts_bound_text(full_bound, full.bound_w);
	findings_add(findings, FINDING_NOTE, "energy", NULL,
		     "for %s of %u cores in %u %s, design power %u W each, the model gives "
		     "%.0f W idle and %.0f W at full load; of machines that it never saw nine of "
		     "ten were within ±%s W idle and ±%s W at full load",
		     sources->host.is_vm ? "a typical host of this VM" : "this machine",
		     facts.cores, facts.sockets, facts.sockets == 1 ? "socket" : "sockets",
		     facts.cpu.tdp_w, idle.idle_w, full.idle_w + full.dynamic_w, idle_bound,
		     full_bound);
	if (full.outside)
		findings_add(findings, FINDING_NOTE, "energy", NULL,
			     "this machine is outside the model's population (servers of %.0f to "
			     "%.0f): the bound is doubled, and is no more than a guess",
			     platform_power_model.weights->year.least,
			     platform_power_model.weights->year.most);
}

/* What --model.url gives. */
static void examine_fetch(struct findings *findings, const struct sources *sources,
			  const struct config *config)
{
	const struct model_updates *updates = &sources->updates;
	struct model_fetch_stats stats;

	if (!updates->is_wanted)
		return;
	model_updates_fault(updates, &stats);
	if (updates->refused.text[0])
		findings_add(findings, FINDING_FIX, "energy",
			     "docs/models.md says what a machine must count for which model",
			     "the model of --model.url is not used: %s", updates->refused.text);
	if (stats.last_error[0])
		findings_add(findings, FINDING_FIX, "energy",
			     "kepler tries again by itself; is model.url right?",
			     "no newer model: %s; %s", stats.last_error,
			     stats.model[0] ? "the last good one is used" : "there is none yet");
	if (stats.cache_error[0])
		findings_add(findings, FINDING_FIX, "energy", "can kepler write host.state-dir?",
			     "the fetched model is not cached: %s", stats.cache_error);
	if (stats.model[0])
		findings_add(findings, FINDING_NOTE, "energy", NULL,
			     "the model \"%.90s\" was fetched from %.200s%s", stats.model,
			     config->model_url,
			     stats.is_cached ? " at an earlier start (cache)" : "");
}

/* Trained models, and why one is not used. */
static void examine_models(struct findings *findings, const struct sources *sources)
{
	const struct model_meter *models = sources->models;

	if (sources->model_files.refused.text[0])
		findings_add(findings, FINDING_FIX, "energy",
			     "train or fetch another one; docs/models.md says what makes a model "
			     "unusable",
			     "a model of --model.file is not used: %s",
			     sources->model_files.refused.text);
	if (sources->model_files.chosen.text[0])
		findings_add(findings, FINDING_NOTE, "energy", NULL, "of several models: %s",
			     sources->model_files.chosen.text);
	for (size_t i = 0; models && i < model_meter_count(models); i++) {
		struct model_state state;
		char error[64] = "its error is not known", bound[WATTS_TEXT_MAX];

		model_meter_state(models, i, &state);
		if (!isnan(state.error_w)) {
			watts_bound_text(bound, state.error_w);
			(void)snprintf(error, sizeof(error), "90 %% of its errors are below %s W",
				       bound);
		}
		findings_add(findings, FINDING_NOTE, "energy", NULL,
			     "the zone \"%s\" is ESTIMATED by the trained model %s (%s), %s; %s%s",
			     zone_kind_name(model_meter_zone(models, i)->kind), state.model,
			     state.output, state.reason, error,
			     state.outside ? "; this machine does now what the model has not seen"
					   : "");
	}
}

static void examine_stand_in(struct findings *findings)
{
	const struct power_model *model = &platform_power_model;

	findings_add(findings, FINDING_NOTE, "energy", NULL,
		     "the zone \"platform\" is ESTIMATED by model %s, fitted to %s; its error for "
		     "a machine it "
		     "never saw is %.0f %% on average (%.0f W); every series says "
		     "source=\"trained_power_model\"",
		     model->name, model->trained_on, model->loo_mape_percent, model->loo_mae_w);
}

/* Where the number of the host's CPUs is from, and what overrides that. */
static const char *host_cpus_source(const struct host_info *host, bool by_model)
{
	static const char *const texts[][2] = {
		{ "option", "--vm.host-cpus" },
		{ "instance_type", "by the instance type" },
		{ "model", "those of the model's machine; --vm.host-cpus" },
		{ "processor", "by the processor's name, a guess; --vm.host-cpus" },
	};
	const char *source = vm_picture_cpus_source(host, by_model);

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
			     "the processor hides its name; by the instance type %s it is %s",
			     host->dmi_product, host->cpu_model);
}

/* What an estimate in a virtual machine assumes of its host. */
static void examine_vm(struct findings *findings, const struct sources *sources)
{
	const struct host_info *host = &sources->host;
	bool by_model = sources->models && model_meter_count(sources->models);
	struct vm_share share = { 0 };
	struct machine_facts facts;

	if (by_model)
		model_meter_vm_share(sources->models, 0, &share);
	else if (sources->estimate)
		estimated_meter_facts(sources->estimate, &facts, &share);
	else
		return;
	findings_add(
		findings, FINDING_NOTE, "energy", NULL,
		"in a VM only the dynamic power of its own vCPUs is estimated; idle power is "
		"the host's and has no series here. Assumed: this VM has %.1f %% of its host's "
		"logical CPUs (%s), and the host's other CPUs are busy for %.0f to %.0f %% of "
		"the time (--vm.neighbour-load). What is known for certain narrows the error",
		share.share * 100, host_cpus_source(host, by_model), share.load_low * 100,
		share.load_high * 100);
}

/* Packages and memory, as far as they are estimated beside the machine. */
static void examine_components(struct findings *findings, const struct sources *sources)
{
	const struct component_model *model = &builtin_component_model;
	struct power_estimate idle[COMPONENT_COUNT], full[COMPONENT_COUNT];

	if (sources->estimate && !sources->components)
		findings_add(findings, FINDING_NOTE, "energy", "--model.parts=all",
			     "package and dram are not estimated beside \"platform\"");
	if (!sources->components)
		return;
	component_meter_estimate(sources->components, 0, idle);
	component_meter_estimate(sources->components, 1, full);
	findings_add(findings, FINDING_NOTE, "energy", "to have none of them: --model.parts=none",
		     "parts of \"platform\" are ESTIMATED by model %s, fitted to %s, all of them "
		     "Intel's; its error for a machine it never saw is %.0f %% (package) and "
		     "%.0f %% (dram) on average",
		     model->name, model->trained_on, model->mape_percent[COMPONENT_PACKAGE],
		     model->mape_percent[COMPONENT_DRAM]);
	for (size_t i = 0; i < component_meter_count(sources->components); i++) {
		const struct zone *zone = component_meter_zone(sources->components, i);
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
			     full[c].outside ? "; the machine is unlike those of the data: the "
					       "bound is doubled, and is no more than a guess"
					     : "");
	}
}

static void examine_estimate(struct findings *findings, const struct sources *sources,
			     const struct config *config)
{
	doctor_examine_no_meter(findings, sources, config);
	if (sources->estimate)
		examine_stand_in(findings);
	examine_bound(findings, sources);
	examine_components(findings, sources);
	if (sources->host.is_vm) {
		examine_instance_type(findings, &sources->host);
		examine_vm(findings, sources);
	}
}

/* What else shows energy here, and how it would be counted. */
static void examine_remarks(struct findings *findings, const struct sources *sources)
{
	struct meter_remark remark;

	for (size_t i = 0; sources->meters && meter_table_remark(sources->meters, i, &remark); i++)
		findings_add(findings, remark.is_failure ? FINDING_FIX : FINDING_NOTE, "energy",
			     remark.option[0] ? remark.option : NULL, "%s", remark.what);
}

static void examine_energy(struct findings *findings, const struct sources *sources,
			   const struct config *config, const struct interval_engine *engine)
{
	if (!sources_have_meters(sources))
		examine_estimate(findings, sources, config);
	examine_models(findings, sources);
	examine_fetch(findings, sources, config);
	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		if (!zone_is_modelled(interval_engine_zone(engine, z)))
			examine_zone(findings, engine, z);
	}
	if (sources->meters)
		doctor_examine_silent(findings, sources->meters);
	if (sources->meters && meter_table_ignored(sources->meters))
		findings_add(findings, FINDING_NOTE, "energy", NULL,
			     "%zu further zone(s) are left out: %s",
			     meter_table_ignored(sources->meters), sources_why_left_out(sources));
	examine_remarks(findings, sources);
}

/* What the reader does not see, and whether it would be noticed. */
static void examine_view(struct findings *findings, const struct activity_info *info)
{
	if (info->sees_part)
		findings_add(findings, FINDING_FIX, "processes",
			     "run in the host's pid namespace (hostPID: true, docker run "
			     "--pid=host), with a /proc that is mounted without hidepid",
			     "only a part of the processes of this machine is seen; what others "
			     "use is unattributed, reason unseen");
	else if (info->own_pid_namespace)
		findings_add(findings, FINDING_FIX, "processes",
			     "run in the host's pid namespace (hostPID: true, docker run "
			     "--pid=host)",
			     "the pid namespace is Kepler's own, so /proc is not the machine's: "
			     "virtual machines are not recognised");
	if (info->account == MACHINE_ACCOUNT_STATIC)
		findings_add(findings, FINDING_FIX, "processes",
			     "mount the host's /proc and point --host.procfs there",
			     "stat in /proc stands still: it is made up, and the energy of what "
			     "is not seen is shared among what is");
	else if (info->account == MACHINE_ACCOUNT_MISSING)
		findings_add(findings, FINDING_FIX, "processes", "mount /proc without subset=pid",
			     "stat in /proc cannot be read: the energy of what is not seen is "
			     "shared among what is");
}

/* "cpu_cycles, cpu_instructions". */
static void list_counters(uint32_t signals, char *buf, size_t size)
{
	size_t len = 0;

	(void)snprintf(buf, size, "none");
	for (enum signal signal = SIGNAL_CPU_CYCLES; signal <= SIGNAL_CACHE_MISSES; signal++) {
		if (signals & SIGNAL_BIT(signal) && len < size)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
						signal_name(signal));
	}
}

/* What context switches show beside CPU time. */
static void examine_switches(struct findings *findings, const struct activity_info *info)
{
	char counters[128];

	if (!info->counts_switches) {
		findings_add(
			findings, FINDING_NOTE, "processes", NULL,
			"no hardware counters (cycles, instructions, cache misses) here: energy "
			"is split by CPU time%s%s",
			info->why_not_counted[0] ? "; " : "", info->why_not_counted);
		return;
	}
	list_counters(info->signals, counters, sizeof(counters));
	findings_add(findings, FINDING_OK, "processes", NULL,
		     "each context switch is looked at; events of the processor: %s", counters);
	if (info->why_not_counted[0])
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "events that are not counted: %s", info->why_not_counted);
	if (info->uncounted_cpus)
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "on %u CPUs not all of these events are counted",
			     info->uncounted_cpus);
	if (info->has_wide_cores)
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "cores have more than two threads: only pairs of them are taken as "
			     "busy side by side");
	if (info->is_late)
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "what a thread does is charged when it leaves its CPU, which may be "
			     "in a later interval");
}

static void examine_reads(struct findings *findings, const struct sources *sources)
{
	struct machine_reads_info info;

	if (!sources->reads)
		return;
	machine_reads_get_info(sources->reads, &info);
	doctor_examine_reads(findings, &info);
}

static void examine_processes(struct findings *findings, const struct sources *sources)
{
	struct activity_info info;

	activity_get_info(sources->activity, &info);
	examine_view(findings, &info);
	if (!info.by_bpf) {
		findings_add(findings, FINDING_FIX, "processes", info.why_not_bpf,
			     "read from /proc, without BPF: CPU time in ticks, work of processes "
			     "that end "
			     "between two readings is charged to their parents");
		return;
	}
	findings_add(findings, FINDING_OK, "processes", NULL,
		     "read by BPF (%s): exact run time of every thread; %llu threads known",
		     info.reader, (unsigned long long)info.threads_known);
	if (info.refused)
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "the kernel refuses BPF programs: %s", info.refused_text);
	examine_switches(findings, &info);
	if (info.unseen)
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "%u process%s (the first is pid %u) hidden from BPF by this kernel; "
			     "CPU time comes from /proc, in ticks",
			     info.unseen, info.unseen == 1 ? " is" : "es are", info.unseen_pid);
	if (info.exits_seen)
		findings_add(findings, FINDING_OK, "processes", NULL,
			     "processes that end between two readings are seen and charged");
	else
		findings_add(findings, FINDING_FIX, "processes",
			     "needs a kernel with BTF tracepoints",
			     "processes that end between two readings are not seen");
	doctor_examine_io(findings, &info.io);
}

static void examine_owners(struct findings *findings, const struct sources *sources,
			   const struct config *config)
{
	const char *controller = identity_resolver_controller(sources->identities);

	if (!controller[0])
		findings_add(findings, FINDING_OK, "owners", NULL,
			     "services and scopes by cgroup v2");
	else
		findings_add(findings, FINDING_OK, "owners", NULL,
			     "services and scopes by the cgroup v1 hierarchy \"%s\"", controller);
	if (identity_resolver_sees_part(sources->identities))
		findings_add(findings, FINDING_FIX, "owners",
			     "mount the host's /sys and point --host.cgroupfs there",
			     "%s is only the part of the container that Kepler runs in: its own "
			     "work is charged to the system, not to that container",
			     config->host.cgroupfs);
}

static void examine_names(struct findings *findings, const struct sources *sources)
{
	struct kube_stats kube;
	struct runtimes_stats runtimes;

	if (sources->names.kube) {
		kube_get_stats(sources->names.kube, &kube);
		if (kube.reachable)
			findings_add(findings, FINDING_OK, "owners", NULL,
				     "pods are named by the %s: %llu on this node", kube.source,
				     (unsigned long long)kube.pods);
		else
			findings_add(
				findings, FINDING_FIX, "owners",
				"look at --kube.pods, --kube.kubeconfig and the permissions of "
				"its account",
				"Kubernetes does not answer, so pods have no names: %s",
				kube.last_error[0] ? kube.last_error : "no answer yet");
	} else if (sources->names.wants_kube) {
		findings_add(findings, FINDING_FIX, "owners",
			     "look at --kube.kubeconfig; a running exporter tries again by itself",
			     "Kubernetes is not asked, so pods have no names: %s",
			     sources->names.kube_error);
	} else {
		findings_add(findings, FINDING_NOTE, "owners", NULL,
			     "Kubernetes is not asked: this is no pod, and --kube.kubeconfig is "
			     "not set");
	}
	if (sources->names.runtimes_error[0])
		findings_add(findings, FINDING_FIX, "owners", NULL,
			     "container runtimes are not asked: %s", sources->names.runtimes_error);
	if (!sources->names.runtimes)
		return;
	runtimes_get_stats(sources->names.runtimes, &runtimes);
	if (runtimes.present[0])
		findings_add(findings, FINDING_OK, "owners", NULL,
			     "containers are named by what %s keeps on this host: %llu",
			     runtimes.present, (unsigned long long)runtimes.containers);
	else
		findings_add(findings, FINDING_NOTE, "owners", NULL, "no container runtime found");
}

/* Only where that decides what bears idle energy: with --gpu.idle=holder, and a GPU. */
static void examine_allocations(struct findings *findings,
				const struct device_allocations *allocations)
{
	unsigned long long nameless = allocations->nameless, unknown = allocations->unknown;
	struct pod_resources_stats stats = { 0 };

	if (!allocations->was_tried)
		return;
	if (allocations->source)
		pod_resources_get_stats(allocations->source, &stats);
	if (stats.reachable)
		findings_add(findings, nameless || unknown ? FINDING_NOTE : FINDING_OK, "owners",
			     NULL,
			     "the kubelet says which containers hold GPUs: %llu ids of %zu "
			     "containers; of others %llu in containers that are not known here, "
			     "%llu of GPUs, or parts of them, that are not known here",
			     allocations->held - nameless, allocations->list.container_count,
			     nameless, unknown);
	else
		findings_add(findings, FINDING_FIX, "owners",
			     "look at --kube.pod-resources, and whether Kepler is root and its "
			     "container has that directory",
			     "the kubelet does not say which containers hold GPUs: %s",
			     allocations->error[0] ? allocations->error
			     : stats.last_error[0] ? stats.last_error
						   : "no answer yet");
}

/* "learned", "idle ≤ 14.00 W (provisional): …" */
static void add_idle_state(const struct interval_engine *engine, size_t z, struct strbuf *out)
{
	enum idle_state state = interval_engine_idle_state(engine, z);
	uint64_t power_uw = interval_engine_idle_power_uw(engine, z);
	char watts[WATTS_TEXT_MAX];

	if (state != IDLE_PROVISIONAL) {
		strbuf_add_str(out, idle_state_name(state));
		return;
	}
	if (power_uw) {
		watts_text(watts, (double)power_uw / 1e6);
		strbuf_addf(out, "idle ≤ %s W (provisional)", watts);
	} else {
		strbuf_add_str(out, "provisional, nothing bounds it yet");
	}
	strbuf_add_str(out, ": a running exporter learns it within a minute of load that varies by "
			    "20 points and is light at times, or within ten minutes at rest");
}

static void examine_idle(struct findings *findings, const struct interval_engine *engine,
			 const struct config *config)
{
	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		const struct zone *zone = interval_engine_zone(engine, z);
		enum idle_state state = interval_engine_idle_state(engine, z);
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
		char id[ZONE_ID_MAX];

		zone_id(zone, id);
		if (state == IDLE_ABSENT) {
			findings_add(findings, FINDING_NOTE, "idle power", NULL,
				     "%s: this zone has no idle part", id);
			continue;
		}
		add_idle_state(engine, z, &text);
		findings_add(findings, FINDING_NOTE, "idle power", NULL, "%s: %s; %s%s", id,
			     strbuf_error(&text) ? "" : text.data,
			     config->idle.share == IDLE_SHARE_NODE ? "it stays with the "
								   : "shared by ",
			     idle_share_name(config->idle.share));
	}
}

/* "smt-time (needs counted_time, paired_time)" */
static void add_rule(struct strbuf *out, enum share_rule rule, uint32_t signals)
{
	uint32_t missing = share_rule_signals(rule) & ~signals;
	const char *before = " (needs ";

	strbuf_addf(out, "%s%s", out->len ? ", " : "", share_rule_name(rule));
	for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++) {
		if (!(missing & SIGNAL_BIT(signal)))
			continue;
		strbuf_addf(out, "%s%s", before, signal_name(signal));
		before = ", ";
	}
	strbuf_add_str(out, missing ? ")" : "");
}

/* What goes before @used: the rule that is asked for, and those of the list. */
static void add_better(struct strbuf *out, enum zone_kind kind, enum share_rule used,
		       enum share_rule asked, uint32_t signals)
{
	enum share_rule rule;

	if (asked != SHARE_AUTO)
		add_rule(out, asked, signals);
	for (uint32_t i = 0; share_rule_in_list(kind, i, &rule) && rule != used; i++) {
		if (rule != asked)
			add_rule(out, rule, signals);
	}
}

/* Of a kind of zones, by the first of them that is charged. */
static void examine_rule(struct findings *findings, const struct interval_engine *engine, size_t z,
			 const struct config *config)
{
	CLEANUP(strbuf_release) struct strbuf better = STRBUF_INIT;
	enum zone_kind kind = interval_engine_zone(engine, z)->kind;
	enum share_rule rule = interval_engine_rule(engine, z);
	enum share_rule asked = config->share.rule[kind];
	bool has_option = zone_kind_is_metered(kind) && !zone_kind_is_device(kind);
	bool is_asked = has_option && asked == rule;
	const char *kind_name = zone_kind_name(kind);

	if (has_option && !is_asked && rule != SHARE_FIT)
		add_better(&better, kind, rule, asked, interval_engine_signals(engine));
	findings_add(findings, FINDING_NOTE, "attribution", NULL,
		     "%s: dynamic energy is shared by %s (%s)%s%s%s%s", kind_name,
		     share_rule_words(rule), share_rule_name(rule),
		     is_asked ? ", as --attribution." : "", is_asked ? kind_name : "",
		     better.len ? "; not possible here: " : "", better.len ? better.data : "");
}

static void examine_rules(struct findings *findings, const struct interval_engine *engine,
			  const struct config *config)
{
	bool has[ZONE_KIND_COUNT] = { false };

	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		enum zone_kind kind = interval_engine_zone(engine, z)->kind;

		if (!has[kind] && interval_engine_is_charged(engine, z))
			examine_rule(findings, engine, z, config);
		has[kind] |= interval_engine_is_charged(engine, z);
	}
}

static void examine_state(struct findings *findings, const struct config *config)
{
	if (!config->host.state_dir[0])
		return;
	if (access(config->host.state_dir, W_OK) == 0)
		findings_add(findings, FINDING_OK, "state", NULL,
			     "learned idle power and learned costs of work are kept in %s",
			     config->host.state_dir);
	else
		findings_add(findings, FINDING_NOTE, "state", NULL,
			     "%s: %s; what is learned of zones is not kept over restarts unless it "
			     "can be made at start",
			     config->host.state_dir, strerrordesc_np(errno));
}

static void examine_limits(struct findings *findings, const struct config *config)
{
	int abi = landlock_abi();

	if (!config->security.landlock)
		findings_add(findings, FINDING_NOTE, "file limits", NULL,
			     "off: security.landlock is false");
	else if (abi)
		findings_add(
			findings, FINDING_OK, "file limits", NULL,
			"the kernel keeps Kepler from writing elsewhere (Landlock, version %d)",
			abi);
	else
		findings_add(
			findings, FINDING_NOTE, "file limits", NULL,
			"none: the kernel has no Landlock (5.13 and later, and \"landlock\" in "
			"its parameter lsm=)");
}

static void examine_series(struct findings *findings, const struct config *config)
{
	uint64_t settle_ns = config->publication.settle_ns;

	if (settle_ns == SETTLE_AUTO)
		findings_add(findings, FINDING_OK, "series", NULL,
			     "a new series shows 0 for as long as the scrapes of a running "
			     "exporter need (--metrics.settle=auto); see "
			     "kepler_exporter_settle_seconds");
	else
		findings_add(findings, FINDING_NOTE, "series", NULL,
			     "a new series shows 0 for %g s (--metrics.settle): of one that is "
			     "scraped less often increase() loses the first joules",
			     (double)settle_ns / 1e9);
}

/* The headline: "Power of the node: 198.0 W = package 92.0 · dram 9.0 · rest of psys 97.0" */
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

/* A second's measurement, shown as the first frame of the live table. */
static void examine_users(struct findings *findings, const struct interval_engine *engine)
{
	const struct live_table_view view = { .url = "", .source = "", .rows = 18, .columns = 80 };
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	char *line, *rest;

	say_power(findings, interval_engine_power(engine));
	if (live_table_draw(interval_engine_power(engine), &view, &frame) < 0)
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

static bool has_rivals(const struct interval_engine *engine)
{
	bool some = false;

	for (size_t z = 0; z < interval_engine_zone_count(engine); z++)
		some |= !interval_engine_is_charged(engine, z) &&
			interval_engine_zone(engine, z)->quality == QUALITY_MEASURED;
	return some;
}

/* A second; where sources can be compared, for as long as that takes. */
static int measure(struct interval_engine *engine, struct self_stats *stats)
{
	int r = interval_engine_run(engine, 0, &stats->self);
	int seconds = 1;

	for (int second = 1; r == 0 && second <= seconds; second++) {
		wait_a_second();
		r = interval_engine_run(engine, second * 1000LL, &stats->self);
		if (second == 1 && has_rivals(engine))
			seconds += COMPARE_SECONDS;
	}
	return r;
}

static void examine_sources(struct findings *findings, struct sources *sources,
			    const struct config *config, struct name_finder *finder)
{
	struct snapshot_holder *holder = NULL;
	struct interval_engine *engine = NULL;
	struct self_stats stats;
	int r = snapshot_holder_new(&holder);

	self_stats_open(&stats, &sources->host, 0);
	if (r == 0) {
		const struct interval_sources from = {
			.meters = sources->meters,
			.estimate = sources->estimate,
			.components = sources->components,
			.models = sources->models,
			.activity = sources->activity,
			.memory = sources->memory,
			.reads = sources->reads,
			.identities = sources->identities,
			.allocations = &sources->allocations,
			.holder = holder,
			.host = &sources->host,
			.cpus = sources->host.cpus,
			.sockets = sources->sockets,
		};

		r = interval_engine_new(&from, config, &engine);
	}
	if (r == 0)
		r = measure(engine, &stats);
	examine_machine(findings, &sources->host);
	if (r < 0) {
		findings_add(findings, FINDING_FAIL, "processes", NULL, "cannot be read: %s",
			     strerrordesc_np(-r));
	} else {
		examine_energy(findings, sources, config, engine);
		examine_processes(findings, sources);
		examine_reads(findings, sources);
		examine_owners(findings, sources, config);
		examine_names(findings, sources);
		examine_allocations(findings, &sources->allocations);
		examine_idle(findings, engine, config);
		examine_rules(findings, engine, config);
		examine_state(findings, config);
		doctor_examine_record(findings, &config->record, config->monitor.interval_ns,
				      (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC));
		examine_series(findings, config);
		examine_limits(findings, config);
		doctor_examine_web(findings, config, finder);
		examine_users(findings, engine);
	}
	interval_engine_free(engine);
	snapshot_holder_free(holder);
	self_stats_close(&stats);
}

struct findings *doctor_examine(const struct config *config)
{
	struct findings *findings = calloc(1, sizeof(*findings));
	struct name_finder finder = NAME_FINDER_INIT;
	struct sources sources;
	struct diag diag = { "" };

	if (!findings)
		return NULL;
	if (config_reachable_address(config))
		(void)name_finder_start(&finder, &address_names_system, NULL);
	if (sources_open(config, &sources, &diag) < 0) {
		findings_add(findings, FINDING_FAIL, "start", NULL, "%s", diag.text);
		name_finder_close(&finder);
		return findings;
	}
	examine_sources(findings, &sources, config, &finder);
	sources_close(&sources);
	name_finder_close(&finder);
	return findings;
}

/* Of a terminal, as long as its lines can be read well; 0: none. */
static size_t text_width(void)
{
	unsigned rows, columns;

	terminal_size(STDOUT_FILENO, &rows, &columns);
	return columns > TEXT_WIDTH_MAX ? TEXT_WIDTH_MAX : columns;
}

/* The exit status; 2 when nothing could be said, and why is said instead. */
static int tell(const struct findings *findings, bool json, bool verbose)
{
	const struct findings_view view = { verbose, terminal_wants_colour(STDOUT_FILENO),
					    text_width() };
	struct strbuf out = STRBUF_INIT;
	int status = 2;

	if (findings && json)
		findings_print_json(findings, &out);
	else if (findings)
		findings_print(findings, &view, &out);
	if (!findings || strbuf_error(&out) < 0)
		(void)fputs("kepler: out of memory\n", stderr);
	else if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
		(void)fprintf(stderr, "kepler: standard output: %s\n", strerrordesc_np(errno));
	else
		status = findings_exit_status(findings);
	strbuf_release(&out);
	return status;
}

struct doctor_config {
	struct config config;
	bool json, verbose;
};

static const struct option own_rows[] = {
	{ "json", NULL, OPTION_BOOL, .offset = offsetof(struct doctor_config, json),
	  .default_text = "false", .only_flag = true,
	  .help = "Print what was found as JSON, for machines." },
	{ "verbose", NULL, OPTION_BOOL, .offset = offsetof(struct doctor_config, verbose),
	  .default_text = "false", .only_flag = true,
	  .help = "Also print what is fine, and what cannot be changed on this machine." },
};
static const struct option_section own_sections[] = { { own_rows, ARRAY_SIZE(own_rows), 0 } };

const struct option_set doctor_options = {
	.program = &config_program,
	.base = &config_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct doctor_config),
	.check = config_check,
};

int doctor_main(int argc, char *const *argv, char *const *environ_)
{
	const struct option_args args = { .argc = argc, .argv = argv, .environ_ = environ_ };
	CLEANUP_FREE struct findings *findings = NULL;
	struct doctor_config doctor = { .json = false };
	struct diag diag = { "" };
	int status;

	if (options_load(&doctor_options, &args, &doctor.config.options, &diag) < 0) {
		(void)fprintf(stderr, "kepler: %s\n", diag.text);
		return 2;
	}
	findings = doctor_examine(&doctor.config);
	status = tell(findings, doctor.json, doctor.verbose);
	options_release(&doctor_options, &doctor.config.options);
	return status;
}
