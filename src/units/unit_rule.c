// SPDX-License-Identifier: Apache-2.0
#include "units/unit_rule.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "net/http_url.h"

#define LOWER   "abcdefghijklmnopqrstuvwxyz"
#define UPPER   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"
#define EXAMPLE "\"requests metric=http_requests_total label=app=web port=8080\""

/* A word of the text after its key: KEY=VALUE, or LABEL!=VALUE in it. */
struct word {
	const char *text;
	size_t len;
};

static bool copy(const struct word *word, char *ret, size_t size)
{
	if (word->len == 0 || word->len >= size)
		return false;
	memcpy(ret, word->text, word->len);
	ret[word->len] = '\0';
	return true;
}

static int refuse(struct diag *diag, const struct word *word, const char *what)
{
	return diag_set(diag, -EINVAL, "%s, not \"%.*s\"", what,
			word->len < 60 ? (int)word->len : 60, word->text);
}

static bool consists_of(const char *text, const char *first, const char *all)
{
	return *text && strchr(first, *text) && strspn(text, all) == strlen(text);
}

/* Splits KEY=VALUE at the first "="; the key of KEY!=VALUE keeps its "!". */
static bool split(const struct word *word, struct word *ret_key, struct word *ret_value)
{
	const char *equals = memchr(word->text, '=', word->len);

	if (!equals || equals == word->text)
		return false;
	*ret_key = (struct word){ word->text, (size_t)(equals - word->text) };
	*ret_value = (struct word){ equals + 1, word->len - ret_key->len - 1 };
	return true;
}

static int take_name(const struct word *word, struct unit_rule *rule, struct diag *diag)
{
	if (copy(word, rule->name, sizeof(rule->name)) &&
	    consists_of(rule->name, LOWER, LOWER DIGITS "_"))
		return 0;
	return refuse(diag, word,
		      "must begin with the name of a unit in small letters, digits and _, as "
		      "in " EXAMPLE);
}

static int take_metric(const struct word *value, struct unit_rule *rule, struct diag *diag)
{
	if (copy(value, rule->metric, sizeof(rule->metric)) &&
	    consists_of(rule->metric, LOWER UPPER "_:", LOWER UPPER DIGITS "_:"))
		return 0;
	return refuse(diag, value, "metric= must be the name of a counter");
}

static int take_match(const struct word *value, struct unit_rule *rule, struct diag *diag)
{
	struct unit_match *match = &rule->matches[rule->match_count];
	struct word label, text;

	if (rule->match_count == UNIT_MATCHES_MAX)
		return refuse(diag, value, "match= can be given four times");
	if (!split(value, &label, &text))
		return refuse(diag, value, "match= must be LABEL=VALUE or LABEL!=VALUE");
	match->is_not = label.text[label.len - 1] == '!';
	label.len -= match->is_not;
	if (!copy(&label, match->label, sizeof(match->label)) ||
	    !consists_of(match->label, LOWER UPPER "_", LOWER UPPER DIGITS "_") ||
	    (text.len > 0 && !copy(&text, match->value, sizeof(match->value))))
		return refuse(diag, value, "match= must be LABEL=VALUE or LABEL!=VALUE");
	rule->match_count++;
	return 0;
}

static int take_term(const struct word *value, bool is_annotation, struct unit_rule *rule,
		     struct diag *diag)
{
	struct pod_term *term = &rule->pods.terms[rule->pods.term_count];
	struct word key, text;

	if (rule->pods.term_count == POD_SELECTOR_TERMS)
		return refuse(diag, value, "a rule can have four labels and annotations of pods");
	term->is_annotation = is_annotation;
	if (!split(value, &key, &text) || !copy(&key, term->key, sizeof(term->key)) ||
	    !copy(&text, term->value, sizeof(term->value)))
		return refuse(diag, value, "label= and annotation= must be KEY=VALUE");
	rule->pods.term_count++;
	return 0;
}

static int take_port(const struct word *value, struct unit_rule *rule, struct diag *diag)
{
	uint64_t port;

	if (parse_u64(value->text, value->len, &port) < 0 || port == 0 || port > UINT16_MAX)
		return refuse(diag, value, "port= must be a number from 1 to 65535");
	rule->port = (uint16_t)port;
	return 0;
}

static int take_path(const struct word *value, struct unit_rule *rule, struct diag *diag)
{
	if (copy(value, rule->path, sizeof(rule->path)) && rule->path[0] == '/' &&
	    !strchr(rule->path, '#'))
		return 0;
	return refuse(diag, value, "path= must begin with a slash, as in /metrics");
}

static int take_url(const struct word *value, struct unit_rule *rule, struct diag *diag)
{
	struct http_url url;

	if (!copy(value, rule->url, sizeof(rule->url)) ||
	    (strncmp(rule->url, "http://", 7) != 0 && strncmp(rule->url, "https://", 8) != 0) ||
	    strpbrk(rule->url, "?#") || http_url_has_user(rule->url))
		return diag_set(diag, -EINVAL,
				"url= must be that of a Prometheus, such as "
				"http://prometheus:9090, without a user and a query");
	http_url_split(rule->url, &url);
	return url.host_len ? 0 : refuse(diag, value, "url= must have a host");
}

static int take_query(const struct word *value, struct unit_rule *rule, struct diag *diag)
{
	return copy(value, rule->query, sizeof(rule->query))
		       ? 0
		       : refuse(diag, value, "query= must be an expression of PromQL");
}

static int take_namespace(const struct word *value, struct unit_rule *rule, struct diag *diag)
{
	return copy(value, rule->pods.namespace_, sizeof(rule->pods.namespace_))
		       ? 0
		       : refuse(diag, value, "namespace= must be the name of a namespace");
}

static int take_label(const struct word *value, struct unit_rule *rule, struct diag *diag)
{
	return take_term(value, false, rule, diag);
}

static int take_annotation(const struct word *value, struct unit_rule *rule, struct diag *diag)
{
	return take_term(value, true, rule, diag);
}

static int take_word(const struct word *word, struct unit_rule *rule, struct diag *diag)
{
	static const struct {
		const char *key;
		int (*take)(const struct word *value, struct unit_rule *rule, struct diag *diag);
	} keys[] = {
		{ "metric", take_metric },
		{ "match", take_match },
		{ "namespace", take_namespace },
		{ "label", take_label },
		{ "annotation", take_annotation },
		{ "port", take_port },
		{ "path", take_path },
		{ "url", take_url },
		{ "query", take_query },
	};
	struct word key, value;

	if (split(word, &key, &value)) {
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			if (strlen(keys[i].key) == key.len &&
			    memcmp(keys[i].key, key.text, key.len) == 0)
				return keys[i].take(&value, rule, diag);
		}
	}
	return refuse(diag, word,
		      "must have words KEY=VALUE with metric, match, namespace, label, "
		      "annotation, port, path, url or query");
}

static int check(const struct unit_rule *rule, struct diag *diag)
{
	bool has_pods = !pod_selector_is_empty(&rule->pods);

	if (rule->url[0] || rule->query[0]) {
		if (!rule->url[0] || !rule->query[0] || rule->metric[0] || has_pods || rule->port ||
		    rule->match_count)
			return diag_set(diag, -EINVAL,
					"%s: url= and query= are needed together, and nothing "
					"else, to ask a Prometheus",
					rule->name);
		return 0;
	}
	if (!rule->metric[0] || !rule->port)
		return diag_set(diag, -EINVAL,
				"%s: must have metric= and port=, as in " EXAMPLE
				", or url= and query=",
				rule->name);
	if (!has_pods)
		return diag_set(diag, -EINVAL,
				"%s: must say which pods are read: namespace=, label= or "
				"annotation=",
				rule->name);
	return 0;
}

int unit_rule_parse(const char *text, struct unit_rule *ret, struct diag *diag)
{
	struct unit_rule rule = { .path = "/metrics" };
	int r = 0;

	if (strlen(text) > UNIT_RULE_MAX)
		return diag_set(diag, -EINVAL, "must have at most %d bytes", UNIT_RULE_MAX);
	text += strspn(text, " \t");
	for (bool is_first = true; r == 0 && (*text || is_first); is_first = false) {
		bool is_rest = strncmp(text, "query=", strlen("query=")) == 0;
		struct word word = { text, is_rest ? strlen(text) : strcspn(text, " \t") };

		r = is_first ? take_name(&word, &rule, diag) : take_word(&word, &rule, diag);
		text += word.len;
		text += strspn(text, " \t");
	}
	if (r == 0)
		r = check(&rule, diag);
	if (r == 0)
		*ret = rule;
	return r;
}

bool unit_rule_matches(const struct unit_rule *rule, const struct series_labels *labels)
{
	for (size_t i = 0; i < rule->match_count; i++) {
		const struct unit_match *match = &rule->matches[i];
		bool is_equal = strcmp(series_label(labels, match->label), match->value) == 0;

		if (is_equal == match->is_not)
			return false;
	}
	return true;
}
