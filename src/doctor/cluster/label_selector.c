// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/label_selector.h"

#include <string.h>

#include "base/macro.h"

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

bool labels_have(const json_t *labels, json_t *wanted)
{
	const char *key;
	json_t *value;

	json_object_foreach(wanted, key, value)
	{
		if (!json_equal(json_object_get(labels, key), value))
			return false;
	}
	return true;
}

static bool is_among(const json_t *values, const json_t *value)
{
	for (size_t i = 0; i < json_array_size(values); i++) {
		if (json_equal(json_array_get(values, i), value))
			return true;
	}
	return false;
}

static bool expression_holds(const json_t *expression, const json_t *labels)
{
	const json_t *value = json_object_get(labels, text_at(expression, "key"));
	const json_t *values = json_object_get(expression, "values");
	const char *operator= text_at(expression, "operator");

	if (strcmp(operator, "In") == 0)
		return value && is_among(values, value);
	if (strcmp(operator, "NotIn") == 0)
		return !value || !is_among(values, value);
	if (strcmp(operator, "Exists") == 0)
		return value;
	return strcmp(operator, "DoesNotExist") == 0 && !value;
}

bool label_selector_matches(const json_t *selector, const json_t *labels)
{
	const json_t *expressions = json_object_get(selector, "matchExpressions");

	if (!json_is_object(selector) ||
	    !labels_have(labels, json_object_get(selector, "matchLabels")))
		return false;
	for (size_t i = 0; i < json_array_size(expressions); i++) {
		if (!expression_holds(json_array_get(expressions, i), labels))
			return false;
	}
	return true;
}

static bool tolerates(const json_t *toleration, const json_t *taint)
{
	const char *effect = text_at(toleration, "effect"), *key = text_at(toleration, "key");

	if (*effect && strcmp(effect, text_at(taint, "effect")) != 0)
		return false;
	if (*key && strcmp(key, text_at(taint, "key")) != 0)
		return false;
	if (strcmp(text_at(toleration, "operator"), "Exists") == 0)
		return true;
	return *key && strcmp(text_at(toleration, "value"), text_at(taint, "value")) == 0;
}

/* The controller adds tolerations of these to each pod (pkg/controller/daemon/util). */
static bool is_tolerated_by_controller(const json_t *taint)
{
	static const char *const keys[] = {
		"not-ready",    "unreachable",   "disk-pressure",       "memory-pressure",
		"pid-pressure", "unschedulable", "network-unavailable",
	};
	static const char domain[] = "node.kubernetes.io/";
	const char *key = text_at(taint, "key");

	if (strncmp(key, domain, strlen(domain)) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(key + strlen(domain), keys[i]) == 0)
			return true;
	}
	return false;
}

const json_t *taint_against(const json_t *taints, const json_t *tolerations)
{
	for (size_t i = 0; i < json_array_size(taints); i++) {
		const json_t *taint = json_array_get(taints, i);
		bool is_tolerated = strcmp(text_at(taint, "effect"), "PreferNoSchedule") == 0 ||
				    is_tolerated_by_controller(taint);

		for (size_t t = 0; !is_tolerated && t < json_array_size(tolerations); t++)
			is_tolerated = tolerates(json_array_get(tolerations, t), taint);
		if (!is_tolerated)
			return taint;
	}
	return NULL;
}
