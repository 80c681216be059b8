// SPDX-License-Identifier: Apache-2.0
#include "engine/estimates.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "model/processor/cpu_name.h"

void estimates_free(struct estimates *estimates)
{
	for (size_t e = ESTIMATE_COUNT; e-- > 0;)
		zone_source_free(estimates->of[e]);
	*estimates = (struct estimates){ 0 };
}

int estimates_adopt(struct estimates *estimates, struct books *books, int64_t boottime_ms)
{
	for (size_t e = 0; e < ESTIMATE_COUNT; e++) {
		struct zone_source *source = estimates->of[e];

		if (!source || (source->is_spare && !accountant_is_silent(&books->accountant)))
			continue;
		for (size_t i = 0; i < zone_source_count(source); i++) {
			struct estimated_zone *zone = &source->zones[i];
			int number = zone->number == SIZE_MAX
					     ? books_adopt(books, &zone->zone, boottime_ms)
					     : (int)zone->number;

			if (number < 0)
				return number;
			zone->number = (size_t)number;
		}
	}
	return 0;
}

void estimates_set_cpus(struct estimates *estimates, unsigned cpus)
{
	for (size_t e = 0; e < ESTIMATE_COUNT; e++) {
		if (estimates->of[e])
			zone_source_set_cpus(estimates->of[e], cpus);
	}
}

uint64_t activity_signal_sum(const struct activity *activity, enum signal signal)
{
	uint64_t sum = activity->unknown_signal[signal];

	for (size_t i = 0; activity->signal[signal] && i < activity->count; i++)
		sum += activity->signal[signal][i];
	for (size_t i = 0; i < activity->cgroup_signal_count; i++)
		sum += activity->cgroup_signals[i].amount[signal];
	return sum;
}

static void feed(struct zone_source *source, const struct activity *activity)
{
	struct node_work work = {
		.time_ns = activity->time_ns,
		.busy_ns = activity->busy_ns - activity->stolen_ns,
		.waited_ns = activity->steal_ns,
		.signals = activity->signals | (activity->has_steal ? WORK_SIGNAL_WAITED : 0),
		.mean_khz = activity->mean_khz,
	};

	for (uint32_t left = activity->signals & zone_source_signals(source); left;
	     left &= left - 1) {
		enum signal signal = (enum signal)__builtin_ctz(left);

		work.amount[signal] = activity_signal_sum(activity, signal);
	}
	zone_source_feed(source, &work);
}

static void advance(struct zone_source *source, size_t index, struct books *books, bool has_passed)
{
	size_t number = source->zones[index].number;
	struct zone_status *status = &books->status[number];
	struct energy_span span;

	status->state = accountant_needs(&books->accountant, number) ? ZONE_UP : ZONE_ABSENT;
	status->error = 0;
	if (status->state == ZONE_ABSENT || !has_passed)
		return;
	status->reads++;
	if (zone_source_advance(source, index, &span)) {
		books_put_span(books, number, span);
		return;
	}
	status->state = ZONE_ERROR;
	status->error = -ENODATA;
	status->errors++;
}

void estimates_advance(struct estimates *estimates, struct books *books,
		       const struct activity *activity)
{
	for (size_t e = 0; e < ESTIMATE_COUNT; e++) {
		struct zone_source *source = estimates->of[e];

		if (!source)
			continue;
		if (activity)
			feed(source, activity);
		for (size_t i = 0; i < zone_source_count(source); i++) {
			if (source->zones[i].number != SIZE_MAX)
				advance(source, i, books, activity);
		}
	}
}

static void picture(const struct model_state *state, struct snapshot_node *node, uint32_t *count,
		    struct snapshot_zone *zone)
{
	struct snapshot_model *model = &node->models[*count];

	if (zone->ended || *count == SNAPSHOT_MODELS)
		return;
	zone->model = ++*count;
	(void)snprintf(model->name, sizeof(model->name), "%s", state->model);
	(void)snprintf(model->output, sizeof(model->output), "%s", state->output);
	(void)snprintf(model->features, sizeof(model->features), "%s", state->features);
	(void)snprintf(model->machine, sizeof(model->machine), "%s", state->machine);
	zone->model_changes = state->changes;
	zone->model_error_w = state->error_w;
	zone->model_outside = state->has_estimate ? state->outside : (double)NAN;
}

static void picture_host(const struct estimates *estimates, const struct host_info *host,
			 struct snapshot_node *node)
{
	const struct zone_source *source = estimates_of_vm(estimates);
	struct vm_share share = { NAN, NAN, NAN, NAN };

	if (source)
		zone_source_vm_share(source, 0, &share);
	(void)snprintf(node->vm_host_cpus_source, sizeof(node->vm_host_cpus_source), "%s",
		       host && source ? estimates_host_cpus_source(source, host) : "");
	node->vm_host_share_ratio = share.share;
	node->vm_load_low = share.load_low;
	node->vm_load_high = share.load_high;
}

void estimates_picture(const struct estimates *estimates, const struct host_info *host,
		       struct snapshot_zone *zones, struct snapshot_node *node)
{
	struct model_state state;
	uint32_t used = 0;

	for (size_t e = 0; e < ESTIMATE_COUNT; e++) {
		const struct zone_source *source = estimates->of[e];

		for (size_t i = 0; i < zone_source_count(source); i++) {
			if (source->zones[i].number == SIZE_MAX)
				continue;
			zone_source_state(source, i, &state);
			picture(&state, node, &used, &zones[source->zones[i].number]);
		}
	}
	picture_host(estimates, host, node);
}

bool estimates_are_all(const struct accountant *accountant)
{
	bool is_estimated = false, is_measured = false;

	for (size_t z = 0; z < accountant->zone_count; z++) {
		const struct zone *zone = accountant->zones[z].zone;

		if (zone->rank == RANK_ESTIMATED || zone->rank == RANK_MODEL)
			is_estimated |=
				zone->rank == RANK_MODEL || !accountant_has_ended(accountant, z);
		else if (!zone_kind_info[zone->kind].is_device &&
			 zone_kind_info[zone->kind].is_metered)
			is_measured |= accountant->contenders[z].standing == STANDING_COUNTS;
	}
	return is_estimated && !is_measured;
}

const struct zone_source *estimates_of_vm(const struct estimates *estimates)
{
	for (size_t e = ESTIMATE_COUNT; e-- > 0;) {
		const struct zone_source *source = estimates->of[e];

		if (zone_source_count(source) && source->is_vm &&
		    (!source->is_spare || source->zones[0].number != SIZE_MAX))
			return source;
	}
	return NULL;
}

const char *estimates_host_cpus_source(const struct zone_source *source,
				       const struct host_info *host)
{
	struct cpu_name name;

	if (host->vm_host_cpus)
		return host->vm_cpus_by_type ? "instance_type" : "option";
	if (source && zone_source_zone(source, 0)->rank == RANK_MODEL)
		return "model";
	cpu_name_read(host->cpu_model, &name);
	return name.cores ? "processor" : "typical";
}
