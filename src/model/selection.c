// SPDX-License-Identifier: Apache-2.0
#include "model/selection.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/quadrature.h"
#include "model/processor/processor_family.h"
#include "model/recent_mean.h"

/* For a model with an unknown error. */
#define ERROR_UNKNOWN 0.3
/* For two sizes if one is not known: half or twice. */
#define DISTANCE_UNKNOWN 0.7

/*
 * The addition of another machine to the error: at no distance in size, and with it; and the same
 * for nine of ten answers, for a whole machine and for its processor.
 *
 * The bounds are quantile regressions over pairs of machines: one's model predicts the other's rows
 * (bench/other_machine.py). For whole machines these are 248 types of SPECpower_ssj2008, for
 * packages four machines of EC2, but not less than whole machines of one family need at no
 * distance. docs/models.md has the parts of rows that lie within them.
 */
static const struct {
	const char *name;
	double base, slope;
	double machine_base, machine_slope;
	double package;
} matches[] = {
	[MATCH_MACHINE] = { "machine", 0, 0, 0, 0, 0 },
	[MATCH_PROCESSOR] = { "processor", 0.16, 0.04, 0.45, 0, 0.1 },
	[MATCH_FAMILY] = { "family", 0.16, 0.2, 0.31, 0.56, 0.31 },
	[MATCH_POOLED] = { "pooled", 0, 0, 0, 0, 0 },
	[MATCH_LINE] = { "line", 0.3, 0.2, 0.61, 0.78, 0.31 },
	[MATCH_OTHER] = { "other", 0.6, 0.1, 3.2, 0.78, 3.2 },
	[MATCH_UNKNOWN] = { "unknown", 0.6, 0.1, (double)NAN, 0, (double)NAN },
};

/*
 * The power of memory depends on its modules: models of dram of these four machines are this far
 * off for each other, on average, even with the same processor.
 */
#define MEMORY_LOOSENESS 0.57

const char *model_match_name(enum model_match match)
{
	return matches[match].name;
}

/* RAPL's sources count parts of the processor, other sources the whole machine. */
static bool is_rapl(const char *source)
{
	static const char *const names[] = { "rapl-sysfs", "rapl-msr",   "rapl-perf",
					     "rapl",       "intel_rapl", "trained_power_model" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], source) == 0)
			return true;
	}
	return false;
}

/* Returns true if @name is one of @names, or a recent mean of one. */
static bool has_name(const char *const *names, size_t count, const char *name)
{
	size_t of_mean = recent_mean_parse(name, NULL);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i], name) == 0 ||
		    (of_mean && strncmp(names[i], name, of_mean) == 0 && !names[i][of_mean]))
			return true;
	}
	return false;
}

static bool is_usable(const struct model_candidate *candidate, const struct model_request *request)
{
	bool same_source = !request->source[0] || strcmp(candidate->source, request->source) == 0 ||
			   (is_rapl(candidate->source) && is_rapl(request->source));

	for (size_t i = 0; i < candidate->feature_count; i++) {
		if (!has_name(request->features, request->feature_count, candidate->features[i]))
			return false;
	}
	return same_source && candidate->output == request->output;
}

static double log_ratio(double a, double b)
{
	return a > 0 && b > 0 ? fabs(log(a / b)) : DISTANCE_UNKNOWN;
}

/* Cores count most: memory and sockets grow with them. */
static double distance(const struct machine_spec *a, const struct machine_spec *b)
{
	return log_ratio(a->cores, b->cores) + log_ratio(a->frequency_mhz, b->frequency_mhz) +
	       log_ratio(a->chips, b->chips) / 2 + log_ratio(a->memory_gb, b->memory_gb) / 2;
}

/* @own is 0 if a model lacks it. */
static bool may_be_same(uint32_t own, uint32_t wanted)
{
	return !own || own == wanted;
}

static bool same_machine(const struct machine_spec *a, const struct machine_spec *b)
{
	return a->cores && a->cores == b->cores && may_be_same(a->chips, b->chips) &&
	       may_be_same(a->memory_gb, b->memory_gb) &&
	       may_be_same(a->frequency_mhz, b->frequency_mhz);
}

static enum model_match match_of(const struct model_candidate *candidate,
				 const struct machine_spec *wanted)
{
	const struct machine_spec *own = candidate->machine;
	struct processor_family a, b;

	if (candidate->is_pooled)
		return MATCH_POOLED;
	if (!own->processor[0])
		return MATCH_UNKNOWN;
	if (!wanted->processor[0])
		return MATCH_OTHER;
	if (strcmp(own->processor, wanted->processor) == 0)
		return same_machine(own, wanted) ? MATCH_MACHINE : MATCH_PROCESSOR;
	processor_family_of(own->processor, &a);
	processor_family_of(wanted->processor, &b);
	if (processor_family_same(&a, &b))
		return MATCH_FAMILY;
	return processor_family_same_line(&a, &b) ? MATCH_LINE : MATCH_OTHER;
}

static void explain(const struct model_candidate *candidate, struct model_choice *choice)
{
	static const char *const words[] = {
		[MATCH_MACHINE] = "trained on this type of machine",
		[MATCH_PROCESSOR] = "trained on another machine with this processor",
		[MATCH_FAMILY] = "trained on a processor of the same family",
		[MATCH_POOLED] = "trained on many machines, for an unknown machine",
		[MATCH_LINE] = "trained on another generation of this line of processors",
		[MATCH_OTHER] = "trained on a processor of another kind",
		[MATCH_UNKNOWN] = "trained on a machine that it does not name",
	};

	(void)snprintf(choice->reason, sizeof(choice->reason),
		       "%s%s%.60s%s; expected error %.0f %%, including %.0f %% for the different "
		       "machine",
		       words[choice->match], candidate->machine->processor[0] ? " (\"" : "",
		       candidate->machine->processor, candidate->machine->processor[0] ? "\")" : "",
		       choice->expected_error * 100, choice->looseness * 100);
}

static void add_other_machine(const struct model_candidate *candidate,
			      const struct machine_spec *wanted, struct model_choice *choice)
{
	const struct machine_spec *own = candidate->machine;
	const char *component = candidate->component ? candidate->component : "platform";
	bool same_memory = choice->match == MATCH_PROCESSOR && own->memory_gb == wanted->memory_gb;

	choice->distance = distance(own, wanted);
	choice->looseness =
		matches[choice->match].base + matches[choice->match].slope * choice->distance;
	choice->bound_ratio = matches[choice->match].machine_base +
			      matches[choice->match].machine_slope * choice->distance;
	if (strcmp(component, "platform") != 0)
		choice->bound_ratio = matches[choice->match].package;
	if (strcmp(component, "dram") == 0 && !same_memory)
		choice->looseness = fmax(choice->looseness, MEMORY_LOOSENESS);
	if (own->cores && wanted->cores)
		choice->core_ratio = (double)wanted->cores / own->cores;
}

void model_judge(const struct model_candidate *candidate, const struct machine_spec *wanted,
		 struct model_choice *ret)
{
	double error = isnan(candidate->error_ratio) ? ERROR_UNKNOWN : candidate->error_ratio;
	struct model_choice choice = { .match = match_of(candidate, wanted), .core_ratio = 1 };

	if (matches[choice.match].slope > 0)
		add_other_machine(candidate, wanted, &choice);
	choice.expected_error = add_in_quadrature(error, choice.looseness);
	explain(candidate, &choice);
	*ret = choice;
}

int model_select(const struct model_candidate *candidates, size_t count,
		 const struct model_request *request, struct model_choice *ret, struct diag *diag)
{
	double limit = request->error_max > 0 ? request->error_max : SELECTION_ERROR_MAX;
	struct model_choice best = { .expected_error = (double)INFINITY }, choice = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (!is_usable(&candidates[i], request))
			continue;
		model_judge(&candidates[i], request->machine, &choice);
		choice.index = i;
		if (choice.expected_error < best.expected_error)
			best = choice;
	}
	if (isinf(best.expected_error))
		return diag_set(diag, -ENOENT,
				"none of %zu models has the requested output and source and only "
				"available features",
				count);
	if (best.expected_error > limit)
		return diag_set(diag, -ERANGE, "the best of %zu models is %s; the limit is %.0f %%",
				count, best.reason, limit * 100);
	*ret = best;
	return 0;
}
