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

bool label_expression_holds(const json_t *expression, const json_t *labels)
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
		if (!label_expression_holds(json_array_get(expressions, i), labels))
			return false;
	}
	return true;
}

static void add_set(const json_t *expression, const char *word, struct strbuf *out)
{
	const json_t *values = json_object_get(expression, "values");

	strbuf_addf(out, "%s %s (", text_at(expression, "key"), word);
	for (size_t i = 0; i < json_array_size(values); i++) {
		const char *value = json_string_value(json_array_get(values, i));

		strbuf_addf(out, "%s%s", i ? "," : "", value ? value : "");
	}
	strbuf_add_char(out, ')');
}

static void add_expression(const json_t *expression, struct strbuf *out)
{
	static const struct {
		const char *operator, * word; /* word: of a set of values */
		const char *before;           /* the key alone */
	} forms[] = {
		{ "In", "in", NULL },
		{ "NotIn", "notin", NULL },
		{ "Exists", NULL, "" },
		{ "DoesNotExist", NULL, "!" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (strcmp(text_at(expression, "operator"), forms[i].operator) != 0)
			continue;
		if (out->len)
			strbuf_add_char(out, ',');
		if (forms[i].word)
			add_set(expression, forms[i].word, out);
		else
			strbuf_addf(out, "%s%s", forms[i].before, text_at(expression, "key"));
	}
}

void label_selector_query(const json_t *selector, struct strbuf *out)
{
	const json_t *expressions = json_object_get(selector, "matchExpressions");
	json_t *labels = json_object_get(selector, "matchLabels");
	const char *key;
	json_t *value;

	json_object_foreach(labels, key, value)
	{
		strbuf_addf(out, "%s%s=%s", out->len ? "," : "", key,
			    json_is_string(value) ? json_string_value(value) : "");
	}
	for (size_t i = 0; i < json_array_size(expressions); i++)
		add_expression(json_array_get(expressions, i), out);
}
