// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_estimate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/quadrature.h"
#include "model/recent_mean.h"
#include "model/selection.h"

/*
 * Few rows show the last tenth of load. There the error of a model's form exceeds its bound, which
 * covers all rows, by a standard deviation that grows up to this part of the dynamic power at full
 * load (docs/models.md).
 */
#define FULL_LOAD_ERROR 0.06
#define LAST_LOADS      0.1

#define FEATURE_COUNT   MODEL_FEATURES_MAX
#define RECENT_MAX      4 /* recent means that one component can have */
#define VALUE_COUNT     (FEATURE_COUNT + RECENT_MAX)

/* Features that are not signals of processes. */
enum { WAITED_TIME = SIGNAL_COUNT, CPU_TIME };

_Static_assert(WORK_SIGNAL_WAITED == 1U << WAITED_TIME, "its bit is that of its place");

/*
 * Features from the counters of the node, and how many units of a signal are one unit of a feature.
 * A level is not a rate and is the same on a machine of any size; its signal shows if it is known.
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

/* A recent mean that a component needs. */
struct recent_feature {
	size_t feature; /* its feature's place in features[] */
	unsigned seconds;
	struct recent_mean mean;
};

/* The model of the source's zone with the same index. */
struct model_zone {
	const struct trained_model *model;
	size_t component;
	struct model_columns columns; /* of features[], and then of recent[] */
	struct recent_feature recent[RECENT_MAX];
	size_t recent_count;
	uint32_t needed;            /* bits of the signals that they use */
	struct model_choice choice; /* the expected error of the model on this machine */
	double no_work_w;           /* its answer for a machine that does nothing */
	uint64_t changes;
};

struct model_estimate {
	struct zone_source base;
	struct model_estimate_options options;
	struct trained_model models[MODEL_PLACES_MAX]; /* by place; without components: none */
	struct model_zone zones[ZONE_SOURCE_MAX];
};

static const struct zone_source_ops model_ops;

static struct model_estimate *models_of(struct zone_source *source)
{
	return (struct model_estimate *)source;
}

static const struct model_estimate *const_models_of(const struct zone_source *source)
{
	return (const struct model_estimate *)source;
}

static uint32_t bit_of(size_t feature)
{
	unsigned signal = features[feature].signal;

	return signal == CPU_TIME ? 0 : 1U << signal;
}

int model_estimate_new(const struct model_estimate_options *options, struct zone_source **ret)
{
	struct model_estimate *models = calloc(1, sizeof(*models));

	if (!models)
		return -ENOMEM;
	zone_source_init(&models->base, &model_ops, options->is_vm, options->cpus);
	models->options = *options;
	*ret = &models->base;
	return 0;
}

static void release(struct zone_source *source)
{
	struct model_estimate *models = models_of(source);

	for (size_t i = 0; i < MODEL_PLACES_MAX; i++)
		trained_model_release(&models->models[i]);
	free(models);
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
static bool is_free(const struct model_estimate *models, enum zone_kind kind)
{
	if (kind == ZONE_KIND_COUNT || models->options.is_measured[kind])
		return false;
	for (size_t i = 0; i < models->base.count; i++) {
		if (models->base.zones[i].zone.kind == kind)
			return false;
	}
	return models->base.count < ZONE_SOURCE_MAX;
}

static bool is_level(size_t feature)
{
	return feature < FEATURE_COUNT && features[feature].divisor <= 0;
}

/* A feature that is not counted here gets a name that no model asks for. */
static void name_features(const struct model_estimate *models, const char *ret[VALUE_COUNT])
{
	for (size_t i = 0; i < VALUE_COUNT; i++)
		ret[i] = i >= FEATURE_COUNT || bit_of(i) & ~models->options.signals
				 ? ""
				 : features[i].name;
}

/* The recent mean that zone @before has, or one that has not begun. */
static struct recent_feature continue_recent(const struct model_zone *before, size_t feature,
					     unsigned seconds)
{
	for (size_t i = 0; i < before->recent_count; i++) {
		if (before->recent[i].feature == feature && before->recent[i].seconds == seconds)
			return before->recent[i];
	}
	return (struct recent_feature){ .feature = feature, .seconds = seconds };
}

/* Gives the zone the recent means of the model whose features are counted here. */
static int add_recent(const struct model_component *component, struct model_zone *zone,
		      const char *names[VALUE_COUNT], struct diag *diag)
{
	const struct model_zone before = *zone;

	zone->recent_count = 0;
	for (size_t i = 0; i < component->feature_count; i++) {
		const char *name = component->features[i].name;
		unsigned seconds = 0;
		size_t len = recent_mean_parse(name, &seconds), from = 0;

		while (from < FEATURE_COUNT &&
		       (!len || is_level(from) || strlen(names[from]) != len ||
			strncmp(names[from], name, len) != 0))
			from++;
		if (from == FEATURE_COUNT)
			continue;
		if (zone->recent_count == RECENT_MAX)
			return diag_set(diag, -ENOENT,
					"component \"%s\" has more than %d recent means",
					component->name, RECENT_MAX);
		zone->recent[zone->recent_count] = continue_recent(&before, from, seconds);
		names[FEATURE_COUNT + zone->recent_count++] = name;
	}
	return 0;
}

static int bind_features(const struct model_estimate *models, const struct trained_model *model,
			 struct model_zone *zone, struct diag *diag)
{
	const struct model_component *component = &model->components[zone->component];
	const char *names[VALUE_COUNT];
	int r;

	name_features(models, names);
	r = add_recent(component, zone, names, diag);
	if (r == 0)
		r = trained_model_bind(model, zone->component, names, VALUE_COUNT, &zone->columns,
				       diag);
	if (r < 0)
		return r;
	zone->needed = 0;
	for (size_t i = 0; i < component->feature_count; i++) {
		size_t at = zone->columns.column[i];

		zone->needed |=
			bit_of(at < FEATURE_COUNT ? at : zone->recent[at - FEATURE_COUNT].feature);
	}
	return 0;
}

/* The cores of the model's machine over the cores of this machine. */
static double core_ratio(const struct model_estimate *models, const struct trained_model *model)
{
	uint32_t cores = model->machine.cores;

	return cores ? (double)cores / models->base.cpus : 1;
}

/* The power of a @ratio-th of the model's machine when all of it does @ratio times @values. */
static void predict_part(const struct model_zone *zone, const double *values, double ratio,
			 struct model_answer *ret)
{
	double scaled[VALUE_COUNT];

	for (size_t i = 0; i < VALUE_COUNT; i++)
		scaled[i] = is_level(i) ? values[i] : values[i] * ratio;
	trained_model_predict(zone->model, zone->component, &zone->columns, scaled, ret);
	ret->watts /= ratio;
	ret->bound_w /= ratio;
}

/* The bound of @watts by a model of another machine, which that machine widens. */
static double with_other_machine(const struct model_zone *zone, double bound_w, double watts)
{
	return add_in_quadrature(bound_w, zone->choice.bound_ratio * watts);
}

/* The power of this machine when it does @values. */
static void predict(const struct model_estimate *models, const struct model_zone *zone,
		    const double *values, struct model_answer *ret)
{
	predict_part(zone, values, core_ratio(models, zone->model), ret);
	ret->bound_w = with_other_machine(zone, ret->bound_w, ret->watts);
}

static void share_of_host(const struct zone_source *source, size_t index, struct vm_share *ret)
{
	const struct model_estimate *models = const_models_of(source);

	vm_share_init(ret, source->cpus, models->zones[index].model->machine.cores,
		      &models->options.vm);
}

/* A relative error has no meaning near no power, where DynPower is. */
static double error_ratio(const struct trained_model *model, size_t component)
{
	return model->output == MODEL_DYN_POWER
		       ? (double)NAN
		       : model->components[component].error.mape_percent / 100;
}

/* The user is responsible for a model that does not name its machine. */
static int judge(const struct model_estimate *models, const struct model_place *place,
		 struct model_zone *zone, struct diag *diag)
{
	const char *name = zone->model->components[zone->component].name;
	enum zone_kind kind = kind_of(name);
	double builtin = kind == ZONE_KIND_COUNT ? 0 : models->options.builtin_error[kind];
	const struct model_candidate candidate = {
		.machine = &zone->model->machine,
		.error_ratio = error_ratio(zone->model, zone->component),
		.component = name,
	};

	model_judge(&candidate, &models->options.machine, &zone->choice);
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

static int bind_zone(const struct model_estimate *models, const struct model_place *place,
		     const struct trained_model *model, size_t component, struct model_zone *zone,
		     struct diag *diag)
{
	static const double nothing[VALUE_COUNT];
	struct model_answer answer;
	int r;

	zone->model = model;
	zone->component = component;
	r = bind_features(models, model, zone, diag);
	if (r == 0)
		r = judge(models, place, zone, diag);
	if (r < 0)
		return r;
	if (!model_component_draws_power(&model->components[component]))
		return diag_set(diag, -ENOENT, "model \"%s\": \"%s\" is always 0 W", model->name,
				model->components[component].name);
	predict_part(zone, nothing, 1, &answer);
	zone->no_work_w = answer.watts;
	return 0;
}

static int add_zone(struct model_estimate *models, const struct model_place *place,
		    size_t component, struct diag *diag)
{
	const struct trained_model *model = &models->models[place->number];
	enum zone_kind kind = kind_of(model->components[component].name);
	struct model_zone zone = { .changes = 0 };
	int r;

	if (!is_free(models, kind))
		return diag_set(diag, -ENOENT,
				"model \"%s\": each of its components is measured here, estimated "
				"by another model, or unknown",
				model->name);
	r = bind_zone(models, place, model, component, &zone, diag);
	if (r < 0)
		return r;
	models->zones[models->base.count] = zone;
	zone_source_add(&models->base, kind, RANK_MODEL, place->path)->needed = zone.needed;
	return 0;
}

static double amount_of(const struct node_work *work, size_t feature)
{
	unsigned signal = features[feature].signal;

	if (signal == CPU_TIME)
		return (double)work->busy_ns;
	return (double)(signal == WAITED_TIME ? work->waited_ns : work->amount[signal]);
}

/* Feature @feature of the work that was fed last; that work must have a time. */
static double rate_of(const struct zone_source *source, size_t feature)
{
	double dt_s = (double)source->dt_ns / 1e9;

	if (is_level(feature))
		return (double)source->work.mean_khz * 1e3;
	return amount_of(&source->work, feature) / features[feature].divisor / dt_s;
}

/* The work that was fed last, as features of the zone's model. */
static void rates(const struct zone_source *source, const struct model_zone *zone, double *ret)
{
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		ret[i] = rate_of(source, i);
	for (size_t i = 0; i < RECENT_MAX; i++)
		ret[FEATURE_COUNT + i] = i < zone->recent_count ? zone->recent[i].mean.value : 0;
}

/* Adds the work that was fed last to the zone's recent means, once. */
static void update_recent(const struct zone_source *source, struct model_zone *zone)
{
	for (size_t i = 0; source->dt_ns && i < zone->recent_count; i++) {
		struct recent_feature *recent = &zone->recent[i];

		if (!(bit_of(recent->feature) & ~source->work.signals))
			(void)recent_mean_add(&recent->mean, recent->seconds,
					      (double)source->fed_ns / 1e9,
					      rate_of(source, recent->feature));
	}
}

static void take_work(struct zone_source *source)
{
	struct model_estimate *models = models_of(source);

	for (size_t i = 0; i < source->count; i++)
		update_recent(source, &models->zones[i]);
}

static int check_output(const struct model_estimate *models, const struct trained_model *model,
			struct diag *diag)
{
	if (model->output != MODEL_DYN_POWER || models->base.is_vm)
		return 0;
	return diag_set(diag, -ENOENT,
			"model \"%s\" has no idle power (DynPower), so it can only be used in a "
			"virtual machine; use an AbsPower model",
			model->name);
}

int model_estimate_add(struct zone_source *source, const struct model_place *place,
		       struct trained_model *model, uint32_t parts, struct diag *diag)
{
	struct model_estimate *models = models_of(source);
	struct trained_model *own = &models->models[place->number];
	size_t zones = source->count;
	struct diag why = { "" };
	int r = check_output(models, model, diag), one;

	if (r < 0) {
		trained_model_release(model);
		return r;
	}
	*own = *model;
	memset(model, 0, sizeof(*model));
	for (size_t i = 0; i < own->component_count; i++) {
		one = parts & 1U << i ? add_zone(models, place, i, &why) : 0;
		if (one < 0 && r != -ERANGE) {
			r = one;
			*diag = why;
		}
	}
	if (source->count > zones) {
		take_work(source);
		if (r != -ERANGE)
			diag->text[0] = '\0';
		return 0;
	}
	trained_model_release(own);
	return r < 0 ? r : -ENOENT;
}

/* Binds a copy of each zone of @own to @model, which replaces @own. */
static int bind_successor(const struct model_estimate *models, const struct model_place *place,
			  const struct trained_model *model,
			  struct model_zone fresh[ZONE_SOURCE_MAX], struct diag *diag)
{
	const struct trained_model *own = &models->models[place->number];
	int r = check_output(models, model, diag);

	for (size_t z = 0; r == 0 && z < models->base.count; z++) {
		const char *name = zone_kind_name(models->base.zones[z].zone.kind);
		size_t c = 0;

		fresh[z] = models->zones[z];
		if (models->zones[z].model != own)
			continue;
		while (c < model->component_count && strcmp(model->components[c].name, name) != 0)
			c++;
		if (c == model->component_count)
			return diag_set(
				diag, -ENOENT,
				"model \"%s\" has no component \"%s\", which is estimated now",
				model->name, name);
		r = bind_zone(models, place, model, c, &fresh[z], diag);
		fresh[z].model = own;
		fresh[z].changes++;
	}
	return r;
}

int model_estimate_replace(struct zone_source *source, const struct model_place *place,
			   struct trained_model *model, struct diag *diag)
{
	struct model_estimate *models = models_of(source);
	struct trained_model *own = &models->models[place->number];
	struct model_zone fresh[ZONE_SOURCE_MAX] = { 0 };
	int r;

	if (!own->component_count)
		return model_estimate_add(source, place, model, UINT32_MAX, diag);
	r = bind_successor(models, place, model, fresh, diag);
	if (r < 0) {
		trained_model_release(model);
		return r;
	}
	for (size_t z = 0; z < source->count; z++) {
		source->zones[z].needed = fresh[z].needed;
		source->zones[z].has_estimate &= fresh[z].model != own;
		models->zones[z] = fresh[z];
	}
	trained_model_release(own);
	*own = *model;
	memset(model, 0, sizeof(*model));
	take_work(source);
	return 0;
}

size_t model_estimate_features(const struct zone_source *source,
			       const char *ret[MODEL_FEATURES_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		if (!(bit_of(i) & ~const_models_of(source)->options.signals))
			ret[count++] = features[i].name;
	}
	return count;
}

/* The features of an idle machine: levels are the lowest of the training rows, if known. */
static void no_load(const struct model_zone *zone, const double *values, double *ret)
{
	const struct model_component *component = &zone->model->components[zone->component];

	memset(ret, 0, VALUE_COUNT * sizeof(*ret));
	for (size_t i = 0; i < component->feature_count; i++) {
		size_t at = zone->columns.column[i];
		double least = component->features[i].minimum;

		if (is_level(at))
			ret[at] = isnan(least) ? values[at] : least;
	}
}

static void power_at(const struct zone_source *source, size_t index, double utilisation,
		     struct zone_power *ret)
{
	const struct model_estimate *models = const_models_of(source);
	const struct model_zone *zone = &models->zones[index];
	double values[VALUE_COUNT], nothing[VALUE_COUNT];
	struct model_answer answer, idle;

	(void)utilisation;
	rates(source, zone, values);
	no_load(zone, values, nothing);
	predict(models, zone, values, &answer);
	predict(models, zone, nothing, &idle);
	ret->idle_w = fmin(idle.watts, answer.watts);
	ret->dynamic_w = answer.watts - ret->idle_w;
	ret->bound_w = answer.bound_w;
	ret->outside = answer.outside;
}

/* The bound of dynamic power @watts by a model with @bound_w, at @load of the model's machine. */
static double bound_at(double load, double watts, double bound_w)
{
	double last = fmax(0, 1 - (1 - load) / LAST_LOADS);

	return add_in_quadrature(bound_w, VM_BOUND_DEVIATIONS * FULL_LOAD_ERROR * last * watts);
}

/* A vCPU is a thread of the host, and the model's machine is as busy as the host. */
static void vm_power_at(const struct zone_source *source, size_t index, const struct vm_load *load,
			struct zone_power *ret)
{
	const struct model_estimate *models = const_models_of(source);
	const struct model_zone *zone = &models->zones[index];
	double part_of_host = load->share->share * load->ratio;
	double ratio = core_ratio(models, zone->model) * part_of_host;
	double idle_w = zone->model->output == MODEL_ABS_POWER ? zone->no_work_w : 0;
	double values[VALUE_COUNT], bound_w;
	struct model_answer answer;

	rates(source, zone, values);
	predict_part(zone, values, ratio, &answer);
	ret->idle_w = 0;
	ret->dynamic_w = fmax(answer.watts - idle_w / ratio, 0);
	bound_w = with_other_machine(zone, answer.bound_w, ret->dynamic_w);
	ret->bound_w = bound_at(part_of_host * load->utilisation, ret->dynamic_w, bound_w);
	ret->outside = answer.outside;
}

static void describe(const struct zone_source *source, size_t index, struct model_state *ret)
{
	const struct model_zone *zone = &const_models_of(source)->zones[index];

	ret->model = zone->model->name;
	ret->features = zone->model->feature_group;
	ret->machine = zone->model->machine.processor;
	ret->reason = zone->choice.reason;
	ret->output = zone->model->output == MODEL_ABS_POWER ? "AbsPower" : "DynPower";
	ret->changes = zone->changes;
}

static const struct zone_source_ops model_ops = {
	.power = power_at,
	.vm_power = vm_power_at,
	.vm_share = share_of_host,
	.describe = describe,
	.take_work = take_work,
	.free = release,
};
