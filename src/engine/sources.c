// SPDX-License-Identifier: Apache-2.0
#include "engine/sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "config/host_override.h"
#include "config/vm_hints.h"
#include "estimate/component_estimate.h"
#include "estimate/platform_estimate.h"
#include "model/platform_power.h"
#include "service/privileges.h"

/*
 * The reader knows more processes than have names: what of them has no row of its own must still be
 * charged to its container, and only the reader knows which that is.
 */
#define READER_FACTOR 4

/* How long a start waits for Kubernetes' files. */
#define NAMES_PATIENCE_NS (1 * NSEC_PER_SEC)

static void open_memory(const struct config *config, struct sources *sources)
{
	int r = memory_signals_open(config->host.cgroupfs, config->host.sysfs, sources->sockets,
				    config->monitor.resident_every_ns, &sources->memory);

	if (r < 0)
		log_warn("%s: the containers' memory cannot be read: %s; check that the memory "
			 "controller is enabled",
			 config->host.cgroupfs, strerrordesc_np(-r));
}

static int open_processes(const struct config *config, struct sources *sources, struct diag *diag)
{
	struct identity_options identity = {
		.procfs = config->host.procfs,
		.cgroupfs = config->host.cgroupfs,
		.merge_services = config->metrics.services == SERVICES_MERGED,
		.start_thread = privileges_drop_thread,
	};
	struct activity_options activity = config->activity;
	int r = names_open(config, &sources->names, diag);

	if (r < 0)
		return r;
	identity.directory = sources->names.directory;
	device_allocations_init(&sources->allocations, config_pod_resources(config),
				sources->names.directory);
	r = identity_resolver_open(&identity, &sources->identities);
	if (r < 0)
		return diag_set(diag, r, "cannot set up the resolver of cgroups: %s",
				strerrordesc_np(-r));
	if (config->monitor.resident_every_ns)
		open_memory(config, sources);
	if (machine_reads_open(config->host.sysfs, privileges_drop_thread, &sources->reads) == 0)
		activity.frequencies = machine_reads_frequencies(sources->reads);
	activity.sockets = sources->sockets;
	activity.procfs = config->host.procfs;
	activity.sysfs = config->host.sysfs;
	activity.allow_walk = true;
	activity.max_processes = config->monitor.max_processes * READER_FACTOR;
	activity.cgroup_controller = identity_resolver_controller(sources->identities);
	r = activity_open(&activity, &sources->activity);
	if (r < 0)
		return diag_set(diag, r, "%s: processes cannot be read: %s; check --host.procfs",
				config->host.procfs, strerrordesc_np(-r));
	return 0;
}

int sources_open_processes(const struct config *config, struct device_holders *holders,
			   struct sources *ret, struct diag *diag)
{
	struct sources sources = { 0 };
	int r = host_info_read(config->host.procfs, config->host.sysfs, &sources.host);

	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s; check --host.procfs",
				config->host.procfs, strerrordesc_np(-r));
	sources.sockets = calloc(1, sizeof(*sources.sockets));
	if (sources.sockets)
		(void)cpu_sockets_read(config->host.sysfs, sources.sockets);
	r = host_override(config->model_machine, &sources.host, diag);
	if (r == 0) {
		vm_hints_apply(&config->vm, &sources.host);
		r = open_processes(config, &sources, diag);
	}
	if (r < 0) {
		sources_close(&sources);
		return r;
	}
	device_holders_load(holders, config);
	sources.holders = holders;
	*ret = sources;
	return 0;
}

/* True if a zone "core" would be one core of the package only, and is left out (AMD). */
static bool core_is_one_core(const struct sources *sources)
{
	const char *vendor = sources->host.cpu_vendor;

	return strcmp(vendor, "AuthenticAMD") == 0 || strcmp(vendor, "HygonGenuine") == 0;
}

const char *sources_why_left_out(const struct sources *sources)
{
	return core_is_one_core(sources)
		       ? "on this CPU, \"core\" is only one core of each package"
		       : "they count the same energy again (intel-rapl-mmio), or there are too "
			 "many";
}

/* True if a trained model, and not the built-in one, estimates the whole machine. */
static bool have_whole(const struct sources *sources)
{
	const struct zone_source *models = sources->estimates.of[ESTIMATE_MODELS];

	for (size_t i = 0; i < zone_source_count(models); i++) {
		if (zone_kind_info[zone_source_zone(models, i)->kind].is_whole)
			return true;
	}
	return false;
}

struct meter_options sources_meter_options(const struct config *config,
					   const struct sources *sources)
{
	struct meter_options options = config_meter_options(config);

	options.node_name = sources->host.node_name;
	options.device_files = device_holders_files(sources->holders);
	options.wants_holders = config->idle.device == DEVICE_IDLE_HOLDER;
	options.core_is_one_core = core_is_one_core(sources);
	options.rapl_is_virtual = sources->host.registers_are_virtual;
	options.host_is_distrusted = sources->host.confidential[0];
	options.cpu_vendor = sources->host.cpu_vendor;
	options.cpu_family = sources->host.cpu_family;
	options.cpu_model = sources->host.cpu_model_number;
	return options;
}

/* Meters that another machine's silence cannot end (energy/rank.h): no estimate is needed. */
static bool have_lasting_meters(const struct sources *sources)
{
	for (size_t z = 0; sources->meters && z < meter_table_count(sources->meters); z++) {
		const struct zone *zone = meter_table_zone(sources->meters, z);

		if (!zone_kind_info[zone->kind].is_device && zone->rank != RANK_SHARE)
			return true;
	}
	return false;
}

static bool wants_models(const struct config *config)
{
	return config->model_file_count > 0 || config->model_url[0];
}

/* The first reading shows whether the CPUs have a frequency. */
static bool has_frequency(struct machine_reads *reads)
{
	if (!reads)
		return false;
	machine_reads_begin(reads, clock_ns(CLOCK_MONOTONIC));
	machine_reads_take(reads);
	return machine_reads_frequencies(reads)->mean_khz;
}

/*
 * Where no zone was found, or none has given a value, the table stays open: a driver may be loaded,
 * or answer, later. Until then the power is estimated. Models of --model.file replace the built-in
 * one. A fetched model can come at any time, so it only takes over what it estimates, whether it
 * was cached or not.
 */
static int open_energy(const struct config *config, struct sources *sources, struct diag *diag)
{
	struct model_surroundings around = { .activity = sources->activity,
					     .host = &sources->host };
	const struct meter_options options = sources_meter_options(config, sources);
	struct zone_source **of = sources->estimates.of;
	size_t from_files;
	int r;

	sources->meters_are_chosen = !meter_takes_any(&options);
	if (config->meter_enabled) {
		r = meter_table_open(&options, &sources->meters);
		if (r < 0)
			return diag_set(diag, r, "%s: cannot look for meters: %s",
					config->host.sysfs, strerrordesc_np(-r));
	}
	around.meters = sources->meters;
	around.has_frequency = wants_models(config) && has_frequency(sources->reads);
	r = model_sources_open(&sources->model_sources, config, &around, &of[ESTIMATE_MODELS]);
	if (r < 0)
		return diag_set(diag, r, "cannot set up the trained models");
	from_files = zone_source_count(of[ESTIMATE_MODELS]);
	model_sources_fetch(&sources->model_sources, config, &sources->host);
	if (have_lasting_meters(sources) || from_files > 0 || have_whole(sources))
		return 0;
	r = platform_estimate_new(&platform_power_model, &sources->host, &of[ESTIMATE_PLATFORM]);
	if (r == 0 && config->model_parts)
		r = component_estimate_new(&builtin_component_model, of[ESTIMATE_PLATFORM],
					   (uint32_t)config->model_parts, &of[ESTIMATE_COMPONENTS]);
	for (size_t e = 0; e <= ESTIMATE_COMPONENTS; e++) {
		if (of[e])
			of[e]->is_spare = sources_have_meters(sources);
	}
	return r < 0 ? diag_set(diag, r, "cannot set up the power model: %s", strerrordesc_np(-r))
		     : 0;
}

int sources_open_meters(const struct config *config, struct sources *sources, struct diag *diag)
{
	int r = open_energy(config, sources, diag);

	if (r == 0)
		names_start(config, &sources->names, NAMES_PATIENCE_NS);
	return r;
}

void sources_follow(struct sources *sources, uint64_t now_ns)
{
	names_tell(&sources->names, now_ns);
	device_allocations_report(&sources->allocations);
	model_sources_turn(&sources->model_sources, now_ns);
}

void sources_close(struct sources *sources)
{
	model_sources_close(&sources->model_sources);
	meter_table_close(sources->meters);
	device_holders_release(sources->holders);
	estimates_free(&sources->estimates);
	activity_close(sources->activity);
	memory_signals_close(sources->memory);
	machine_reads_close(sources->reads);
	identity_resolver_close(sources->identities);
	device_allocations_release(&sources->allocations);
	names_close(&sources->names);
	if (sources->sockets)
		cpu_sockets_release(sources->sockets);
	free(sources->sockets);
	*sources = (struct sources){ 0 };
}

bool sources_have_meters(const struct sources *sources)
{
	for (size_t z = 0; sources->meters && z < meter_table_count(sources->meters); z++) {
		if (!zone_kind_info[meter_table_zone(sources->meters, z)->kind].is_device)
			return true;
	}
	return false;
}

bool sources_are_searched(const struct sources *sources)
{
	return sources->meters && !sources_have_meters(sources) &&
	       !meter_table_has_searched(sources->meters);
}

static const char *why_estimated(const struct sources *sources)
{
	if (!sources->meters)
		return "meters are switched off";
	if (sources_are_searched(sources))
		return "the search for meters continues";
	if (!sources_have_meters(sources) && meter_table_silent_count(sources->meters))
		return "the meters that were found give no values";
	if (!sources_have_meters(sources) && sources->meters_are_chosen)
		return "no meter among those of --meters";
	return sources_have_meters(sources) ? "the meters that were found do not count yet"
					    : "no meter here";
}

/* "measured (nvml): gpu-GPU-1, gpu-GPU-2", of devices only or of all that meters count. */
static void add_metered(const struct meter_table *meters, bool devices_only, struct strbuf *out)
{
	const char *source = NULL;

	for (size_t z = 0; z < meter_table_count(meters); z++) {
		const struct zone *zone = meter_table_zone(meters, z);
		char id[ZONE_ID_MAX];

		if (devices_only && !zone_kind_info[zone->kind].is_device)
			continue;
		zone_id(zone, id);
		if (zone->source == source)
			strbuf_addf(out, ", %s", id);
		else
			strbuf_addf(out, "%s%s (%s): %s", source ? "; " : "",
				    zone_quality_name(zone->quality), zone->source, id);
		source = zone->source;
	}
}

/* "; estimated (NAME): package, dram", by the trained models. */
static void add_models(const struct zone_source *models, struct strbuf *out)
{
	const char *name = NULL;

	for (size_t i = 0; i < zone_source_count(models); i++) {
		struct model_state state;

		zone_source_state(models, i, &state);
		if (state.model == name)
			strbuf_add_str(out, ", ");
		else
			strbuf_addf(out, "%sestimated (model %s): ", out->len ? "; " : "",
				    state.model);
		strbuf_add_str(out, zone_kind_name(zone_source_zone(models, i)->kind));
		name = state.model;
	}
}

void sources_describe(const struct sources *sources, bool estimated, char *buf, size_t size)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf metered = STRBUF_INIT;

	if (sources->meters)
		add_metered(sources->meters, estimated, &metered);
	add_models(sources->estimates.of[ESTIMATE_MODELS], &metered);
	if (estimated && (!sources->estimates.of[ESTIMATE_PLATFORM] || have_whole(sources)))
		strbuf_addf(&text, "%s: ", why_estimated(sources));
	else if (estimated)
		strbuf_addf(&text, "estimated, %s: model %s of %s%s%s%s", why_estimated(sources),
			    platform_power_model.name, platform_power_model.trained_on,
			    sources->host.is_vm ? "; dynamic power of this VM only" : "",
			    sources->estimates.of[ESTIMATE_COMPONENTS]
				    ? "; with its parts by --model.parts"
				    : "",
			    metered.len ? "; " : "");
	else if (!metered.len)
		strbuf_add_str(&text, "measured");
	(void)snprintf(buf, size, "%s%s", text.data ? text.data : "",
		       metered.data ? metered.data : "");
}
