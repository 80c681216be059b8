// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_meter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/quadrature.h"
#include "meter/power_integral.h"
#include "model/selection.h"
#include "model/vm_full.h"

/*
 * Few rows show the last tenth of load, where a model's form is further off than its bound, which
 * is of all rows, says: by a standard deviation that grows up to this part of the dynamic power at
 * full load (docs/models.md).
 */
#define FULL_LOAD_ERROR 0.06
#define LAST_LOADS      0.1

#define MODELS_MAX      MODEL_METER_PLACES
#define FEATURE_COUNT   MODEL_METER_FEATURES

/* What is no signal of processes. */
enum { WAITED_TIME = SIGNAL_COUNT, CPU_TIME };

_Static_assert(MODEL_SIGNAL_WAITED == 1U << WAITED_TIME, "its bit is that of its place");

/*
 * Features that the node's own counters give, and how many of a signal are one of them. A level is
 * no rate, and is the same on a machine of any size; its signal says whether it is known.
 */
static const struct {
	const char *name;
	unsigned signal; /* enum signal, CPU_TIME or WAITED_TIME */
	double divisor;  /* 0: a level */
} features[FEATURE_COUNT] = {
	{ "bpf_cpu_time_ms", CPU_TIME, 1e6 },
	{ "bpf_cpu_time_us", CPU_TIME, 1e3 },
	{ "cpu_steal_seconds", WAITED_TIME, 1e9 },
	{ "cpu_cycles", SIGNAL_CPU_CYCLES, 1 },
	{ "cpu_ref_cycles", SIGNAL_REF_CYCLES, 1 },
	{ "cpu_instructions", SIGNAL_INSTRUCTIONS, 1 },
	{ "cache_miss", SIGNAL_CACHE_MISSES, 1 },
	{ "bpf_page_cache_hit", SIGNAL_PAGE_CACHE_HITS, 1 },
	{ "bpf_net_tx_irq", SIGNAL_NET_TX_IRQ, 1 },
	{ "bpf_net_rx_irq", SIGNAL_NET_RX_IRQ, 1 },
	{ "bpf_block_irq", SIGNAL_BLOCK_IRQ, 1 },
	{ "cpu_scaling_frequency_hertz", SIGNAL_FREQUENCY_TIME, 0 },
};

struct model_zone {
	struct zone zone;
	const struct trained_model *model;
	size_t component;
	struct model_columns columns; /* of features[] */
	uint32_t needed;              /* SIGNAL_BIT()s */
	struct model_choice choice;   /* what the model is worth on this machine */
	bool started, has_estimate;
	uint64_t last_ns;
	struct power_integral idle, dynamic;
	struct model_answer answer; /* the last one, of this machine */
	uint64_t changes;
};

struct model_meter {
	struct model_meter_options options;
	struct trained_model models[MODELS_MAX]; /* by place; without components: none */
	struct model_zone zones[MODEL_ZONES_MAX];
	size_t zone_count;
	uint64_t fed_ns; /* when work was fed last; 0: never */
	uint64_t dt_ns;  /* that it took */
	struct node_work work;
	struct vm_full full;
	double full_probability; /* that the host was full during the work */
};

static uint32_t bit_of(size_t feature)
{
	unsigned signal = features[feature].signal;

	return signal == CPU_TIME ? 0 : 1U << signal;
}

int model_meter_new(const struct model_meter_options *options, struct model_meter **ret)
{
	struct model_meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return -ENOMEM;
	meter->options = *options;
	model_meter_set_cpus(meter, options->cpus);
	*ret = meter;
	return 0;
}

void model_meter_free(struct model_meter *meter)
{
	if (!meter)
		return;
	for (size_t i = 0; i < MODELS_MAX; i++)
		trained_model_release(&meter->models[i]);
	free(meter);
}

/* ZONE_KIND_COUNT: of no kind that a model can stand for. */
static enum zone_kind kind_of(const char *component)
{
	static const enum zone_kind kinds[] = { ZONE_PLATFORM, ZONE_PACKAGE, ZONE_CORE, ZONE_UNCORE,
						ZONE_DRAM };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(zone_kind_name(kinds[i]), component) == 0)
			return kinds[i];
	}
	return ZONE_KIND_COUNT;
}

/* A whole machine is not compared with its parts: each kind stands for itself. */
static bool is_free(const struct model_meter *meter, enum zone_kind kind)
{
	if (kind == ZONE_KIND_COUNT || meter->options.is_measured[kind])
		return false;
	for (size_t i = 0; i < meter->zone_count; i++) {
		if (meter->zones[i].zone.kind == kind)
			return false;
	}
	return meter->zone_count < MODEL_ZONES_MAX;
}

/* Columns are those of features[]; what is not counted here has a name that no model asks for. */
static int bind_features(const struct model_meter *meter, const struct trained_model *model,
			 size_t component, struct model_zone *zone, struct diag *diag)
{
	const char *names[FEATURE_COUNT];
	int r;

	for (size_t i = 0; i < FEATURE_COUNT; i++)
		names[i] = bit_of(i) & ~meter->options.signals ? "" : features[i].name;
	r = trained_model_bind(model, component, names, FEATURE_COUNT, &zone->columns, diag);
	if (r < 0)
		return r;
	zone->needed = 0;
	for (size_t i = 0; i < model->components[component].feature_count; i++)
		zone->needed |= bit_of(zone->columns.column[i]);
	return 0;
}

/* Cores of the model's machine to those of this one. */
static double core_ratio(const struct model_meter *meter, const struct trained_model *model)
{
	uint32_t cores = model->machine.cores;

	return cores ? (double)cores / meter->options.cpus : 1;
}

static bool is_level(size_t feature)
{
	return features[feature].divisor <= 0;
}

/* What a @ratio-th of the model's machine draws when all of it does @ratio times @values. */
static void predict_part(const struct model_zone *zone, const double *values, double ratio,
			 struct model_answer *ret)
{
	double scaled[FEATURE_COUNT];

	for (size_t i = 0; i < FEATURE_COUNT; i++)
		scaled[i] = is_level(i) ? values[i] : values[i] * ratio;
	trained_model_predict(zone->model, zone->component, &zone->columns, scaled, ret);
	ret->watts /= ratio;
	ret->bound_w /= ratio;
}

/* The bound of @watts by a model of another machine: its own, and what that machine adds. */
static double with_other_machine(const struct model_zone *zone, double bound_w, double watts)
{
	return add_in_quadrature(bound_w, zone->choice.bound_ratio * watts);
}

/* What this machine draws when it does @values. */
static void predict(const struct model_meter *meter, const struct model_zone *zone,
		    const double *values, struct model_answer *ret)
{
	predict_part(zone, values, core_ratio(meter, zone->model), ret);
	ret->bound_w = with_other_machine(zone, ret->bound_w, ret->watts);
}

void model_meter_vm_share(const struct model_meter *meter, size_t index, struct vm_share *ret)
{
	vm_share_init(ret, meter->options.cpus, meter->zones[index].model->machine.cores,
		      &meter->options.vm);
	ret->full = meter->full_probability;
}

/* Of the power @point, with the bound of its model, at @load of the model's machine. */
static double bound_at(double load, const struct vm_point *point)
{
	double last = fmax(0, 1 - (1 - load) / LAST_LOADS);

	return add_in_quadrature(point->bound_w,
				 VM_BOUND_DEVIATIONS * FULL_LOAD_ERROR * last * point->watts);
}

/*
 * What a virtual machine, busy for @utilisation of its vCPUs, draws of its host above idle. A vCPU
 * is a thread of the host, and the model's machine is as busy as the host.
 */
static void predict_vm(const struct model_meter *meter, const struct model_zone *zone,
		       const double *values, double utilisation, struct model_answer *ret)
{
	double nothing[FEATURE_COUNT] = { 0 }, part_of_host, ratio;
	struct vm_point points[VM_SHARE_LOADS], part;
	struct model_answer answer, idle = { 0 };
	struct vm_share share;

	*ret = (struct model_answer){ 0 };
	if (!(utilisation > 0))
		return;
	model_meter_vm_share(meter, (size_t)(zone - meter->zones), &share);
	if (zone->model->output == MODEL_ABS_POWER)
		predict_part(zone, nothing, 1, &idle);
	for (size_t i = 0; i < VM_SHARE_LOADS; i++) {
		part_of_host = share.share * vm_share_ratio(&share, utilisation, i);
		ratio = core_ratio(meter, zone->model) * part_of_host;
		predict_part(zone, values, ratio, &answer);
		points[i].watts = fmax(answer.watts - idle.watts / ratio, 0);
		points[i].bound_w = with_other_machine(zone, answer.bound_w, points[i].watts);
		points[i].bound_w = bound_at(part_of_host * utilisation, &points[i]);
		ret->outside = i == VM_SHARE_LOADS / 2 ? answer.outside : ret->outside;
	}
	vm_share_combine(&share, points, &part);
	ret->watts = part.watts;
	ret->bound_w = part.bound_w;
}

/* A relative error near no power, as that of DynPower is, has no meaning. */
static double error_ratio(const struct trained_model *model, size_t component)
{
	return model->output == MODEL_DYN_POWER
		       ? (double)NAN
		       : model->components[component].error.mape_percent / 100;
}

/* A model that does not name its machine is its user's to answer for. */
static int judge(const struct model_meter *meter, const struct model_place *place,
		 struct model_zone *zone, struct diag *diag)
{
	const char *name = zone->model->components[zone->component].name;
	enum zone_kind kind = kind_of(name);
	double builtin = kind == ZONE_KIND_COUNT ? 0 : meter->options.builtin_error[kind];
	const struct model_candidate candidate = {
		.machine = &zone->model->machine,
		.error_ratio = error_ratio(zone->model, zone->component),
		.component = name,
	};

	model_judge(&candidate, &meter->options.machine, &zone->choice);
	if (zone->choice.match != MATCH_UNKNOWN &&
	    zone->choice.expected_error > SELECTION_ERROR_MAX)
		return diag_set(diag, -ERANGE,
				"model \"%.60s\": \"%s\" was %s; at most %.0f %% are accepted",
				zone->model->name, name, zone->choice.reason,
				SELECTION_ERROR_MAX * 100);
	if (place->gives_way && builtin > 0 && zone->choice.expected_error > builtin)
		return diag_set(
			diag, -ERANGE,
			"model \"%.60s\": \"%s\" was %s; the built-in model, whose expected "
			"error is %.0f %%, stays",
			zone->model->name, name, zone->choice.reason, builtin * 100);
	return 0;
}

static int bind_zone(const struct model_meter *meter, const struct model_place *place,
		     const struct trained_model *model, size_t component, struct model_zone *zone,
		     struct diag *diag)
{
	int r;

	zone->model = model;
	zone->component = component;
	r = bind_features(meter, model, component, zone, diag);
	if (r == 0)
		r = judge(meter, place, zone, diag);
	if (r < 0)
		return r;
	if (model_component_draws_power(&model->components[component]))
		return 0;
	return diag_set(diag, -ENOENT, "model \"%s\": \"%s\" is always 0 W", model->name,
			model->components[component].name);
}

static int add_zone(struct model_meter *meter, const struct model_place *place, size_t component,
		    struct diag *diag)
{
	const struct trained_model *model = &meter->models[place->number];
	enum zone_kind kind = kind_of(model->components[component].name);
	struct model_zone *zone = &meter->zones[meter->zone_count];
	int r;

	if (!is_free(meter, kind))
		return diag_set(diag, -ENOENT,
				"model \"%s\": each of its components is measured here, estimated "
				"by another model, or unknown",
				model->name);
	*zone = (struct model_zone){ 0 };
	r = bind_zone(meter, place, model, component, zone, diag);
	if (r < 0)
		return r;
	zone->zone = (struct zone){
		.kind = kind,
		.source = "trained_power_model",
		.quality = QUALITY_ESTIMATED,
		.rank = RANK_MODEL,
		.scope = meter->options.is_vm ? SCOPE_VM_DYNAMIC : SCOPE_NODE,
		.knows_idle = !meter->options.is_vm,
	};
	memcpy(zone->zone.path, place->path, strnlen(place->path, ZONE_PATH_MAX - 1));
	meter->zone_count++;
	return 0;
}

static int check_output(const struct model_meter *meter, const struct trained_model *model,
			struct diag *diag)
{
	if (model->output != MODEL_DYN_POWER || meter->options.is_vm)
		return 0;
	return diag_set(diag, -ENOENT,
			"model \"%s\" has no idle power (DynPower), so it can only be used in a "
			"virtual machine; use an AbsPower model",
			model->name);
}

int model_meter_add_parts(struct model_meter *meter, const struct model_place *place,
			  struct trained_model *model, uint32_t parts, struct diag *diag)
{
	struct trained_model *own = &meter->models[place->number];
	size_t zones = meter->zone_count;
	struct diag why = { "" };
	int r = check_output(meter, model, diag), one;

	if (r < 0) {
		trained_model_release(model);
		return r;
	}
	*own = *model;
	memset(model, 0, sizeof(*model));
	for (size_t i = 0; i < own->component_count; i++) {
		one = parts & 1U << i ? add_zone(meter, place, i, &why) : 0;
		if (one < 0 && r != -ERANGE) {
			r = one;
			*diag = why;
		}
	}
	if (meter->zone_count > zones) {
		if (r != -ERANGE)
			diag->text[0] = '\0';
		return 0;
	}
	trained_model_release(own);
	return r < 0 ? r : -ENOENT;
}

/* Binds a copy of each zone of @own to @model, which takes the place of @own. */
static int bind_successor(const struct model_meter *meter, const struct model_place *place,
			  const struct trained_model *model,
			  struct model_zone fresh[MODEL_ZONES_MAX], struct diag *diag)
{
	const struct trained_model *own = &meter->models[place->number];
	int r = check_output(meter, model, diag);

	for (size_t z = 0; r == 0 && z < meter->zone_count; z++) {
		const char *name = zone_kind_name(meter->zones[z].zone.kind);
		size_t c = 0;

		fresh[z] = meter->zones[z];
		if (fresh[z].model != own)
			continue;
		while (c < model->component_count && strcmp(model->components[c].name, name) != 0)
			c++;
		if (c == model->component_count)
			return diag_set(
				diag, -ENOENT,
				"model \"%s\" has no component \"%s\", which is estimated now",
				model->name, name);
		r = bind_zone(meter, place, model, c, &fresh[z], diag);
		fresh[z].model = own;
		fresh[z].has_estimate = false;
		fresh[z].changes++;
	}
	return r;
}

int model_meter_replace(struct model_meter *meter, const struct model_place *place,
			struct trained_model *model, struct diag *diag)
{
	struct trained_model *own = &meter->models[place->number];
	struct model_zone fresh[MODEL_ZONES_MAX];
	int r;

	if (!own->component_count)
		return model_meter_add_parts(meter, place, model, UINT32_MAX, diag);
	r = bind_successor(meter, place, model, fresh, diag);
	if (r < 0) {
		trained_model_release(model);
		return r;
	}
	memcpy(meter->zones, fresh, meter->zone_count * sizeof(*fresh));
	trained_model_release(own);
	*own = *model;
	memset(model, 0, sizeof(*model));
	return 0;
}

size_t model_meter_feature_names(const struct model_meter *meter,
				 const char *ret[MODEL_METER_FEATURES])
{
	size_t count = 0;

	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		if (!(bit_of(i) & ~meter->options.signals))
			ret[count++] = features[i].name;
	}
	return count;
}

void model_meter_features(const struct model_meter *meter, char *buf, size_t size)
{
	const char *names[MODEL_METER_FEATURES];
	size_t count = model_meter_feature_names(meter, names), len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < count && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? "," : "", names[i]);
}

size_t model_meter_count(const struct model_meter *meter)
{
	return meter ? meter->zone_count : 0;
}

const struct zone *model_meter_zone(const struct model_meter *meter, size_t index)
{
	return &meter->zones[index].zone;
}

void model_meter_set_cpus(struct model_meter *meter, unsigned cpus)
{
	meter->options.cpus = cpus ? cpus : 1;
}

/* As the first zone's model has it: waiting is of the machine, not of a zone. */
static double share_of_host(const struct model_meter *meter)
{
	struct vm_share share;

	if (!meter->zone_count)
		return 1;
	model_meter_vm_share(meter, 0, &share);
	return share.share;
}

void model_meter_feed(struct model_meter *meter, const struct node_work *work)
{
	struct vm_waiting waiting = { .ran_ns = work->busy_ns,
				      .waited_ns = work->waited_ns,
				      .cpus = meter->options.cpus,
				      .share = share_of_host(meter) };

	meter->dt_ns =
		meter->fed_ns && work->time_ns > meter->fed_ns ? work->time_ns - meter->fed_ns : 0;
	meter->fed_ns = work->time_ns;
	meter->work = *work;
	waiting.dt_ns = meter->dt_ns;
	meter->full_probability = vm_full_add(&meter->full, &waiting);
}

static uint64_t amount_of(const struct node_work *work, size_t feature)
{
	unsigned signal = features[feature].signal;

	if (signal == CPU_TIME)
		return work->busy_ns;
	return signal == WAITED_TIME ? work->waited_ns : work->amount[signal];
}

static void rates(const struct model_meter *meter, double *ret)
{
	double dt_s = (double)meter->dt_ns / 1e9;

	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		if (is_level(i))
			ret[i] = (double)meter->work.mean_khz * 1e3;
		else
			ret[i] = (double)amount_of(&meter->work, i) / features[i].divisor / dt_s;
	}
}

static double utilisation(const struct model_meter *meter)
{
	return fmin(1, (double)meter->work.busy_ns / ((double)meter->dt_ns * meter->options.cpus));
}

/* The work of a machine that does nothing: levels are the lowest of the training rows, if known. */
static void no_load(const struct model_zone *zone, const double *values, double *ret)
{
	const struct model_component *component = &zone->model->components[zone->component];

	memset(ret, 0, FEATURE_COUNT * sizeof(*ret));
	for (size_t i = 0; i < component->feature_count; i++) {
		size_t at = zone->columns.column[i];
		double least = component->features[i].minimum;

		if (is_level(at))
			ret[at] = isnan(least) ? values[at] : least;
	}
}

static void integrate(const struct model_meter *meter, struct model_zone *zone,
		      struct energy_span *span)
{
	uint64_t dt_ns = span->to_ns - span->from_ns;
	double values[FEATURE_COUNT], nothing[FEATURE_COUNT], idle_w = 0;
	struct model_answer idle;

	rates(meter, values);
	if (meter->options.is_vm)
		predict_vm(meter, zone, values, utilisation(meter), &zone->answer);
	else
		predict(meter, zone, values, &zone->answer);
	if (zone->zone.knows_idle) {
		no_load(zone, values, nothing);
		predict(meter, zone, nothing, &idle);
		idle_w = fmin(idle.watts, zone->answer.watts);
	}
	span->energy_uj = power_integral_add(&zone->dynamic,
					     power_microwatts(zone->answer.watts - idle_w), dt_ns);
	if (zone->zone.knows_idle)
		span->idle_uj = power_integral_add(&zone->idle, power_microwatts(idle_w), dt_ns);
	span->energy_uj += span->idle_uj;
	zone->has_estimate = true;
}

bool model_meter_advance(struct model_meter *meter, size_t index, struct energy_span *ret)
{
	struct model_zone *zone = &meter->zones[index];
	struct energy_span span = {
		.known = zone->started,
		.from_ns = zone->last_ns,
		.to_ns = meter->fed_ns,
	};

	if (zone->started && (!meter->dt_ns || zone->needed & ~meter->work.signals))
		return false;
	/* What is estimated of one interval says nothing of many before it. */
	span.known &= span.to_ns - span.from_ns <= POWER_BRIDGE_PERIODS * meter->dt_ns;
	if (span.known)
		integrate(meter, zone, &span);
	zone->started = true;
	zone->last_ns = meter->fed_ns;
	*ret = span;
	return true;
}

void model_meter_state(const struct model_meter *meter, size_t index, struct model_state *ret)
{
	const struct model_zone *zone = &meter->zones[index];

	*ret = (struct model_state){
		.model = zone->model->name,
		.features = zone->model->feature_group,
		.machine = zone->model->machine.processor,
		.reason = zone->choice.reason,
		.output = zone->model->output == MODEL_ABS_POWER ? "AbsPower" : "DynPower",
		.has_estimate = zone->has_estimate,
		.error_w = zone->has_estimate ? zone->answer.bound_w : (double)NAN,
		.outside = zone->has_estimate && zone->answer.outside,
		.changes = zone->changes,
	};
}
