// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/node_fit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "doctor/cluster/label_selector.h"

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool read_integer(const char *text, long long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 10);
	return *text && !*end && errno == 0;
}

/* Gt and Lt compare whole numbers; a label with another text, or that is missing, does not fit. */
static bool compares(const json_t *expression, const json_t *labels, bool is_greater)
{
	const char *bound =
		json_string_value(json_array_get(json_object_get(expression, "values"), 0));
	long long value, limit;

	if (!bound || !read_integer(bound, &limit) ||
	    !read_integer(text_at(labels, text_at(expression, "key")), &value))
		return false;
	return is_greater ? value > limit : value < limit;
}

static bool requirement_holds(const json_t *expression, const json_t *labels)
{
	const char *operator= text_at(expression, "operator");
	bool is_greater = strcmp(operator, "Gt") == 0;

	if (is_greater || strcmp(operator, "Lt") == 0)
		return compares(expression, labels, is_greater);
	return label_expression_holds(expression, labels);
}

static bool all_hold(const json_t *requirements, const json_t *labels)
{
	for (size_t i = 0; i < json_array_size(requirements); i++) {
		if (!requirement_holds(json_array_get(requirements, i), labels))
			return false;
	}
	return true;
}

/* A term without any requirement fits no node. */
static bool term_fits(const json_t *term, const json_t *fields, const json_t *labels)
{
	const json_t *on_labels = json_object_get(term, "matchExpressions");
	const json_t *on_fields = json_object_get(term, "matchFields");

	return json_array_size(on_labels) + json_array_size(on_fields) > 0 &&
	       all_hold(on_labels, labels) && all_hold(on_fields, fields);
}

static bool affinity_fits(const json_t *pod_spec, const char *node_name, const json_t *labels)
{
	const json_t *node = json_object_get(json_object_get(pod_spec, "affinity"), "nodeAffinity");
	const json_t *required =
		json_object_get(node, "requiredDuringSchedulingIgnoredDuringExecution");
	const json_t *terms = json_object_get(required, "nodeSelectorTerms");
	json_t *fields;
	bool fits = false;

	if (!json_is_object(required))
		return true;
	fields = json_pack("{s:s}", "metadata.name", node_name); /* the only field there is */
	for (size_t i = 0; !fits && i < json_array_size(terms); i++)
		fits = term_fits(json_array_get(terms, i), fields, labels);
	json_decref(fields);
	return fits;
}

bool node_is_wanted(const json_t *pod_spec, const char *node_name, const json_t *node_labels)
{
	return labels_have(node_labels, json_object_get(pod_spec, "nodeSelector")) &&
	       affinity_fits(pod_spec, node_name, node_labels);
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

bool taint_is_of_virtual_node(const json_t *taint)
{
	static const char *const keys[] = {
		"virtual-kubelet.io/provider", "eks.amazonaws.com/compute-type", /* Fargate */
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(text_at(taint, "key"), keys[i]) == 0)
			return true;
	}
	return false;
}
