// SPDX-License-Identifier: Apache-2.0
#include "repository/entry_filter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

static const char *const names[FILTER_ATTRIBUTE_COUNT] = {
	[FILTER_TRAINER] = "trainer",
	[FILTER_MODEL_NAME] = "model_name",
	[FILTER_MODEL_CLASS] = "model_class",
	[FILTER_FEATURE_GROUP] = "feature_group",
	[FILTER_SOURCE] = "source",
	[FILTER_OUTPUT_TYPE] = "output_type",
	[FILTER_PROCESSOR] = "processor",
	[FILTER_NODE_TYPE] = "node_type",
	[FILTER_CORES] = "cores",
	[FILTER_CHIPS] = "chips",
	[FILTER_MEMORY] = "memory",
	[FILTER_FREQUENCY] = "frequency",
	[FILTER_MAE] = "mae",
	[FILTER_MAPE] = "mape",
};

/* ---- reading ---- */

/* "COMPONENT_mae", whatever the component: another model may have the one that this one lacks. */
static bool find_component(const char *name, struct filter_condition *ret)
{
	const char *end = strrchr(name, '_');

	if (!end || end == name)
		return false;
	if (strcmp(end, "_mae") == 0)
		ret->attribute = FILTER_MAE;
	else if (strcmp(end, "_mape") == 0)
		ret->attribute = FILTER_MAPE;
	else
		return false;
	(void)snprintf(ret->text, sizeof(ret->text), "%.*s", (int)(end - name), name);
	return true;
}

static bool find_attribute(const char *name, struct filter_condition *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0) {
			ret->attribute = (enum filter_attribute)i;
			return true;
		}
	return find_component(name, ret);
}

static int parse_condition(const char *name, const char *value, struct filter_condition *ret,
			   struct diag *diag)
{
	*ret = (struct filter_condition){ .text = "" };
	if (!find_attribute(name, ret))
		return diag_set(diag, -EINVAL,
				"filter: there is no attribute \"%.40s\"; known are mae, mape, "
				"COMPONENT_mae, COMPONENT_mape (at most), node_type, cores, chips, "
				"memory, frequency, processor, trainer, model_name, model_class, "
				"feature_group, source, output_type (equal)",
				name);
	if (ret->attribute < FILTER_NODE_TYPE)
		(void)snprintf(ret->text, sizeof(ret->text), "%s", value);
	else if (parse_double(value, &ret->number) < 0)
		return diag_set(diag, -EINVAL, "filter: %.40s: must be a number, not \"%.40s\"",
				name, value);
	return 0;
}

int entry_filter_parse(const char *text, struct entry_filter *ret, struct diag *diag)
{
	ret->count = 0;
	while (*text) {
		char part[ENTRY_FILTER_SIZE], *value;
		size_t len = strcspn(text, ";");
		int r;

		if (ret->count == ENTRY_FILTERS_MAX || len >= sizeof(part))
			return diag_set(diag, -EINVAL, "filter: is too long");
		(void)snprintf(part, sizeof(part), "%.*s", (int)len, text);
		text += len + (text[len] == ';');
		value = strchr(part, ':');
		if (!value)
			return diag_set(diag, -EINVAL,
					"filter: must be ATTRIBUTE:VALUE;…, not \"%.40s\"", part);
		*value++ = '\0';
		r = parse_condition(part, value, &ret->conditions[ret->count], diag);
		if (r < 0)
			return r;
		ret->count++;
	}
	return 0;
}

/* ---- models ---- */

static const char *text_of(const struct model_entry *entry, enum filter_attribute attribute)
{
	const char *const texts[FILTER_NODE_TYPE] = {
		[FILTER_TRAINER] = entry->trainer,
		[FILTER_MODEL_NAME] = entry->name,
		[FILTER_MODEL_CLASS] = entry->kind,
		[FILTER_FEATURE_GROUP] = entry->group,
		[FILTER_SOURCE] = entry->source,
		[FILTER_OUTPUT_TYPE] = model_output_name(entry->output),
		[FILTER_PROCESSOR] = entry->machine.processor,
	};

	return texts[attribute];
}

static double number_of(const struct model_entry *entry, enum filter_attribute attribute)
{
	const double numbers[FILTER_ATTRIBUTE_COUNT] = {
		[FILTER_NODE_TYPE] = entry->node_type,
		[FILTER_CORES] = entry->machine.cores,
		[FILTER_CHIPS] = entry->machine.chips,
		[FILTER_MEMORY] = entry->machine.memory_gb,
		[FILTER_FREQUENCY] = entry->machine.frequency_mhz,
	};

	return numbers[attribute];
}

/* NAN: not known. */
static double error_of(const struct model_entry *entry, const struct filter_condition *condition)
{
	bool watts = condition->attribute == FILTER_MAE;

	if (!condition->text[0])
		return watts ? entry->mae_w : entry->mape_percent;
	for (size_t i = 0; i < entry->error_count; i++) {
		const struct entry_error *error = &entry->errors[i];

		if (strcmp(error->component, condition->text) == 0)
			return watts ? error->mae_w : error->mape_percent;
	}
	return (double)NAN;
}

static bool holds(const struct filter_condition *condition, const struct model_entry *entry)
{
	if (condition->attribute < FILTER_NODE_TYPE)
		return strcmp(text_of(entry, condition->attribute), condition->text) == 0;
	if (condition->attribute < FILTER_MAE)
		return fabs(number_of(entry, condition->attribute) - condition->number) < 1e-9;
	return error_of(entry, condition) <= condition->number;
}

bool entry_filter_passes(const struct entry_filter *filter, const struct model_entry *entry)
{
	for (size_t i = 0; i < filter->count; i++)
		if (!holds(&filter->conditions[i], entry))
			return false;
	return true;
}
