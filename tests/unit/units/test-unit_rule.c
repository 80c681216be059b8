// SPDX-License-Identifier: Apache-2.0
#include "units/unit_rule.h"

#include "tests/unit/unit.h"

static struct unit_rule parse(const char *text)
{
	struct unit_rule rule;
	struct diag diag = { "" };
	int r = unit_rule_parse(text, &rule, &diag);

	if (r < 0)
		print_error("%s: %s\n", text, diag.text);
	assert_int_equal(r, 0);
	return rule;
}

static void test_pods(void **state)
{
	struct unit_rule rule = parse(" requests  metric=http_requests_total match=code=200 "
				      "match=path!=/healthz namespace=shop label=app=web "
				      "annotation=example.org/units=a=b port=8080 path=/m?x=1 ");

	assert_string_equal(rule.name, "requests");
	assert_string_equal(rule.metric, "http_requests_total");
	assert_int_equal(rule.match_count, 2);
	assert_string_equal(rule.matches[0].label, "code");
	assert_string_equal(rule.matches[0].value, "200");
	assert_false(rule.matches[0].is_not);
	assert_string_equal(rule.matches[1].label, "path");
	assert_string_equal(rule.matches[1].value, "/healthz");
	assert_true(rule.matches[1].is_not);
	assert_string_equal(rule.pods.namespace_, "shop");
	assert_int_equal(rule.pods.term_count, 2);
	assert_false(rule.pods.terms[0].is_annotation);
	assert_string_equal(rule.pods.terms[0].key, "app");
	assert_string_equal(rule.pods.terms[0].value, "web");
	assert_true(rule.pods.terms[1].is_annotation);
	assert_string_equal(rule.pods.terms[1].key, "example.org/units");
	assert_string_equal(rule.pods.terms[1].value, "a=b");
	assert_int_equal(rule.port, 8080);
	assert_string_equal(rule.path, "/m?x=1");
	assert_string_equal(rule.url, "");
	rule = parse("requests metric=a:b_total label=app=web port=1");
	assert_string_equal(rule.path, "/metrics");
}

static void test_prometheus(void **state)
{
	struct unit_rule rule =
		parse("tokens url=http://prometheus:9090/x/ query=sum by (namespace, pod) "
		      "(vllm:generation_tokens_total{a=\"b\"}) port=1");

	assert_string_equal(rule.url, "http://prometheus:9090/x/");
	assert_string_equal(rule.query, "sum by (namespace, pod) "
					"(vllm:generation_tokens_total{a=\"b\"}) port=1");
	assert_true(pod_selector_is_empty(&rule.pods));
}

static void test_faults(void **state)
{
	static const struct {
		const char *text, *says;
	} faults[] = {
		{ "", "must begin with the name" },
		{ "metric=x port=1 label=a=b", "must begin with the name" },
		{ "Requests metric=x port=1 label=a=b", "must begin with the name" },
		{ "requests", "must have metric= and port=" },
		{ "requests metric=x label=a=b", "must have metric= and port=" },
		{ "requests metric=x port=1", "which pods" },
		{ "requests metric=x-y port=1 label=a=b", "metric= must be" },
		{ "requests metric=x port=0 label=a=b", "1 to 65535" },
		{ "requests metric=x port=65536 label=a=b", "1 to 65535" },
		{ "requests metric=x port=1 label=a", "must be KEY=VALUE" },
		{ "requests metric=x port=1 label=a=", "must be KEY=VALUE" },
		{ "requests metric=x port=1 label=a=b path=metrics", "must begin with a slash" },
		{ "requests metric=x port=1 label=a=b match=c", "LABEL=VALUE" },
		{ "requests metric=x port=1 label=a=b match=!=c", "LABEL=VALUE" },
		{ "requests metric=x port=1 label=a=b when=c", "must have words KEY=VALUE" },
		{ "requests metric=x port=1 label=a=b word", "must have words KEY=VALUE" },
		{ "tokens url=http://p", "are needed together" },
		{ "tokens query=x", "are needed together" },
		{ "tokens url=http://p port=1 query=x", "are needed together" },
		{ "tokens url=ftp://p query=x", "must be that of a Prometheus" },
		{ "tokens url=http://u:p@p query=x", "must be that of a Prometheus" },
		{ "tokens url=http:// query=x", "must have a host" },
		{ "r metric=x port=1 label=a=1 label=b=1 label=c=1 label=d=1 label=e=1", "four" },
		{ "r metric=x port=1 label=a=1 match=a=1 match=b=1 match=c=1 match=d=1 match=e=1",
		  "four" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct unit_rule rule;
		struct diag diag = { "" };

		assert_int_equal(unit_rule_parse(faults[i].text, &rule, &diag), -EINVAL);
		if (!strstr(diag.text, faults[i].says))
			print_error("%s: %s\n", faults[i].text, diag.text);
		assert_non_null(strstr(diag.text, faults[i].says));
	}
}

static void test_long_text(void **state)
{
	struct unit_rule rule;
	char text[UNIT_RULE_MAX + 2];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(unit_rule_parse(text, &rule, NULL), -EINVAL);
	text[UNIT_NAME_MAX + 1] = '\0';
	assert_int_equal(unit_rule_parse(text, &rule, NULL), -EINVAL);
}

static void test_series_that_match(void **state)
{
	const struct series_labels ok = { .name = { "__name__", "code" },
					  .value = { "x", "200" },
					  .count = 2 };
	const struct series_labels health = { .name = { "__name__", "code", "path" },
					      .value = { "x", "200", "/healthz" },
					      .count = 3 };
	const struct series_labels failed = { .name = { "__name__", "code" },
					      .value = { "x", "500" },
					      .count = 2 };
	struct unit_rule rule = parse("r metric=x label=a=b port=1 match=code=200 "
				      "match=path!=/healthz");

	assert_true(unit_rule_matches(&rule, &ok));
	assert_false(unit_rule_matches(&rule, &health));
	assert_false(unit_rule_matches(&rule, &failed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pods),
		cmocka_unit_test(test_prometheus),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_long_text),
		cmocka_unit_test(test_series_that_match),
	};

	return unit_run(tests);
}
