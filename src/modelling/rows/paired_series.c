// SPDX-License-Identifier: Apache-2.0
/*
 * A model for virtual machines is one of the host's type: an estimate takes the guest's part of it
 * at all loads of its neighbours (model/vm_share.h). Rows for such a model therefore come from a
 * time in which the guest was alone on its host, and its charge was the host's dynamic energy.
 */
#include "modelling/rows/paired_series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "samples/metric_kind.h"

#define ALONE_MIN   0.9 /* of the host's dynamic energy */
#define OTHERS_MAX  300 /* bytes of names in a message */
#define METRIC_SIZE 256

enum side { SIDE_NONE, SIDE_VM, SIDE_HOST };

struct pairing {
	struct paired_series *series;
	const struct series_sink *sink;
	bool is_wanted; /* the current series is passed on */
	enum side side; /* whose energy it is */
	double last_j;  /* NAN before its first point */
};

static int pass_on(struct pairing *pairing, const struct series_labels *labels)
{
	pairing->is_wanted = true;
	return pairing->sink->series(pairing->sink->userdata, labels);
}

static int begin_guest(void *userdata, const struct series_labels *labels)
{
	struct pairing *pairing = userdata;
	struct metric_kind kind;

	metric_kind_find(labels, METRIC_NODE, &kind);
	pairing->is_wanted = false;
	return kind.subject == METRIC_POWER ? 0 : pass_on(pairing, labels);
}

static void note_other(struct paired_series *series, const char *name)
{
	struct strbuf *others = &series->others;
	const char *found = others->len ? strstr(others->data, name) : NULL;

	if (*name && !found && others->len < OTHERS_MAX) {
		strbuf_add_str(others, others->len ? ", " : "");
		strbuf_add_json(others, name); /* fit for a terminal */
	}
}

/* The labels of a virtual machine's energy under the node's name for it; false: of no zone. */
static bool as_nodes(const struct series_labels *labels, char name[static METRIC_SIZE],
		     struct series_labels *ret)
{
	const char *rest = series_label(labels, "__name__") + strlen("kepler_vm_");
	int len = snprintf(name, METRIC_SIZE, "kepler_node_%s", rest);
	struct metric_kind kind;

	if (len < 0 || len >= METRIC_SIZE || strstr(rest, "retired_"))
		return false;
	*ret = *labels;
	for (size_t i = 0; i < ret->count; i++) {
		if (strcmp(ret->name[i], "__name__") == 0)
			ret->value[i] = name;
	}
	metric_kind_find(ret, METRIC_NODE, &kind);
	return kind.subject == METRIC_POWER;
}

static int begin_vm(struct pairing *pairing, const struct series_labels *labels)
{
	const char *name = series_label(labels, "vm_name"), *id = series_label(labels, "vm_id");
	struct series_labels renamed;
	char metric[METRIC_SIZE];

	if (strcmp(series_label(labels, "mode"), "idle") == 0 ||
	    !as_nodes(labels, metric, &renamed))
		return 0;
	if (strcmp(name, pairing->series->vm) != 0 && strcmp(id, pairing->series->vm) != 0) {
		note_other(pairing->series, *name ? name : id);
		return 0;
	}
	pairing->side = SIDE_VM;
	return pass_on(pairing, &renamed);
}

static int begin_host(void *userdata, const struct series_labels *labels)
{
	struct pairing *pairing = userdata;
	const char *name = series_label(labels, "__name__");
	struct metric_kind kind;

	pairing->is_wanted = false;
	pairing->side = SIDE_NONE;
	pairing->last_j = (double)NAN;
	if (strncmp(name, "kepler_vm_", strlen("kepler_vm_")) == 0)
		return begin_vm(pairing, labels);
	metric_kind_find(labels, METRIC_NODE, &kind);
	if (strcmp(name, "kepler_node_cpu_active_joules_total") == 0 ||
	    (kind.subject == METRIC_POWER && strcmp(series_label(labels, "mode"), "dynamic") == 0))
		pairing->side = SIDE_HOST;
	return 0;
}

/* A counter that falls has restarted at 0. */
static int take_point(void *userdata, const struct series_point *point)
{
	struct pairing *pairing = userdata;
	double more_j =
		point->value < pairing->last_j ? point->value : point->value - pairing->last_j;

	if (isfinite(more_j) && pairing->side != SIDE_NONE)
		*(pairing->side == SIDE_VM ? &pairing->series->vm_j : &pairing->series->host_j) +=
			more_j;
	if (isfinite(point->value))
		pairing->last_j = point->value;
	return pairing->is_wanted ? pairing->sink->point(pairing->sink->userdata, point) : 0;
}

int paired_series_read(void *userdata, const struct series_sink *sink, struct diag *diag)
{
	struct paired_series *series = userdata;
	struct pairing pairing = { .series = series, .sink = sink };
	const struct series_sink of_guest = { begin_guest, take_point, &pairing };
	const struct series_sink of_host = { begin_host, take_point, &pairing };
	int r;

	series->vm_j = series->host_j = 0;
	strbuf_reset(&series->others);
	r = series_read_file(series->guest, &of_guest, diag);
	if (r == 0)
		r = series_read_file(series->host, &of_host, diag);
	if (r < 0 || series->vm_j > 0)
		return r;
	return diag_set(diag, -ENODATA,
			"%.200s: no dynamic energy of a virtual machine with the name or id "
			"\"%.80s\"%s%.320s",
			series->host, series->vm, series->others.len ? "; there is " : "",
			series->others.len ? series->others.data : "");
}

int paired_series_check(const struct paired_series *series, struct diag *diag)
{
	if (series->vm_j >= ALONE_MIN * series->host_j)
		return 0;
	return diag_set(
		diag, -EINVAL,
		"the virtual machine has only %.0f %% of its host's dynamic energy, so other "
		"work on the host shaped its power; collect at a time when it is alone (%.0f "
		"%%)",
		100 * series->vm_j / series->host_j, 100 * ALONE_MIN);
}

void paired_series_release(struct paired_series *series)
{
	strbuf_release(&series->others);
}
