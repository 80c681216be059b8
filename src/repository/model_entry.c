// SPDX-License-Identifier: Apache-2.0
#include "repository/model_entry.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "repository/model_json.h"
#include "repository/node_type.h"

static const char *const output_names[MODEL_OUTPUT_COUNT] = {
	[MODEL_ABS_POWER] = "AbsPower",
	[MODEL_DYN_POWER] = "DynPower",
};

const char *model_output_name(enum model_output output)
{
	return output_names[output];
}

bool model_output_parse(const char *text, enum model_output *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(output_names); i++)
		if (strcmp(text, output_names[i]) == 0) {
			*ret = (enum model_output)i;
			return true;
		}
	return false;
}

bool model_entry_take_name(struct model_entry *entry, const char *name)
{
	const char *digits = strrchr(name, '_');
	uint64_t number;

	if (!digits || digits == name || strlen(name) >= sizeof(entry->name) ||
	    parse_u64(digits + 1, strlen(digits + 1), &number) < 0 || number > INT32_MAX)
		return false;
	(void)snprintf(entry->name, sizeof(entry->name), "%s", name);
	(void)snprintf(entry->trainer, sizeof(entry->trainer), "%.*s", (int)(digits - name), name);
	entry->node_type = (int32_t)number;
	return true;
}

/* The length of "package" in "package_mae"; 0: the key has another form. */
static size_t component_len(const char *key, const char *suffix)
{
	size_t len = strlen(key), tail = strlen(suffix);

	if (len <= tail || strcmp(key + len - tail, suffix) != 0)
		return 0;
	len -= tail;
	return len < sizeof(((struct entry_error *)0)->component) ? len : 0;
}

/* -1 stands for "not known" in upstream's tables. */
static double error_or_nan(double value)
{
	return value >= 0 ? value : (double)NAN;
}

static void take_errors(struct model_entry *entry, const json_t *metadata)
{
	const char *key;
	json_t *value;

	entry->error_count = 0;
	/* The cast is jansson's own, in its macro for objects that are not const. */
	json_object_foreach((json_t *)(uintptr_t)metadata, key, value)
	{
		size_t len = component_len(key, "_mae");
		struct entry_error *error = &entry->errors[entry->error_count];
		char mape[32];

		if (!len || entry->error_count == ENTRY_ERRORS_MAX || !json_is_number(value))
			continue;
		(void)snprintf(error->component, sizeof(error->component), "%.*s", (int)len, key);
		(void)snprintf(mape, sizeof(mape), "%s_mape", error->component);
		error->mae_w = error_or_nan(model_json_number(metadata, key));
		error->mape_percent = error_or_nan(model_json_number(metadata, mape));
		entry->error_count++;
	}
}

static const struct entry_error *main_error(const struct model_entry *entry)
{
	static const char *const order[] = { "platform", "package" };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		for (size_t e = 0; e < entry->error_count; e++)
			if (strcmp(entry->errors[e].component, order[i]) == 0)
				return &entry->errors[e];
	return entry->error_count ? &entry->errors[0] : NULL;
}

static int join_features(const json_t *list, char **ret)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < json_array_size(list) && i < PREDICTOR_FEATURES_MAX; i++) {
		const char *name = json_string_value(json_array_get(list, i));

		if (!name || !*name || strchr(name, ','))
			return 0; /* unknown, then */
		if (i)
			strbuf_add_char(&text, ',');
		strbuf_add_str(&text, name);
	}
	if (strbuf_error(&text) < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(text.data);
	return 0;
}

int model_entry_take_metadata(struct model_entry *entry, const json_t *metadata,
			      char **ret_features)
{
	const json_t *machine = json_object_get(metadata, "machine_spec");
	const struct entry_error *error;

	(void)snprintf(entry->kind, sizeof(entry->kind), "%s",
		       model_json_text(metadata, "model_class"));
	take_errors(entry, metadata);
	error = main_error(entry);
	entry->mae_w = error_or_nan(model_json_number(metadata, "mae"));
	entry->mape_percent =
		error ? error->mape_percent : error_or_nan(model_json_number(metadata, "mape"));
	if (json_is_object(machine) && machine_spec_is_empty(&entry->machine))
		machine_spec_read(machine, &entry->machine);
	*ret_features = NULL;
	return join_features(json_object_get(metadata, "features"), ret_features);
}

bool model_entry_is_pickled(const struct model_entry *entry)
{
	bool weights = entry->files & FILE_WEIGHTS && !entry->weights_are_bad;

	return !weights && entry->files & FILE_ARCHIVE && strcmp(entry->kind, "xgboost") != 0 &&
	       strcmp(entry->kind, "kepler") != 0;
}
