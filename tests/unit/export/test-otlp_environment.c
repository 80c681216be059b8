// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/otlp_environment.h"
#include "tests/unit/unit.h"

/* NAME=VALUE; NULL ends it. */
static const char *const *variables;

static const char *get(const char *name)
{
	size_t len = strlen(name);

	for (const char *const *one = variables; *one; one++) {
		if (strncmp(*one, name, len) == 0 && (*one)[len] == '=')
			return *one + len + 1;
	}
	return NULL;
}

#define SET(...) (variables = (const char *const[]){ __VA_ARGS__, NULL })

static void read_into(struct otlp_environment *ret)
{
	struct diag diag = { 0 };

	if (otlp_environment_read(get, false, ret, &diag) < 0)
		fail_msg("%s", diag.text);
}

static void refuses(const char *why)
{
	struct otlp_environment environment;
	struct diag diag = { 0 };

	assert_int_equal(otlp_environment_read(get, true, &environment, &diag), -EINVAL);
	if (!strstr(diag.text, why))
		fail_msg("%s", diag.text);
	otlp_environment_release(&environment);
}

static void nothing_is_set_by_default(void **state)
{
	struct otlp_environment environment;

	SET("OTEL_EXPORTER_OTLP_ENDPOINT=", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc");
	read_into(&environment); /* of another program: without an endpoint it is not looked at */
	assert_null(environment.url);
	otlp_environment_release(&environment);
}

static void the_variable_of_metrics_is_whole(void **state)
{
	struct otlp_environment environment;

	SET("OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318/");
	read_into(&environment);
	assert_string_equal(environment.url, "http://collector:4318/v1/metrics");
	otlp_environment_release(&environment);
	SET("OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318",
	    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=https://metrics/otlp");
	read_into(&environment);
	assert_string_equal(environment.url, "https://metrics/otlp");
	otlp_environment_release(&environment);
}

static void variables_of_metrics_take_precedence(void **state)
{
	struct otlp_environment environment;

	SET("OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "OTEL_EXPORTER_OTLP_TIMEOUT=2500",
	    "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT=1500", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip",
	    "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION=none", "OTEL_METRIC_EXPORT_INTERVAL=30000",
	    "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=Delta",
	    "OTEL_EXPORTER_OTLP_CERTIFICATE=/ca.pem", "OTEL_EXPORTER_OTLP_CLIENT_KEY=/key.pem",
	    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=/cert.pem", "OTEL_SERVICE_NAME=power",
	    "OTEL_EXPORTER_OTLP_PROTOCOL=grpc",
	    "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/protobuf");
	read_into(&environment);
	assert_int_equal(environment.timeout_ns, 1500000000);
	assert_int_equal(environment.interval_ns, 30000000000);
	assert_true(environment.has_compression && !environment.is_gzip && environment.is_delta);
	assert_string_equal(environment.ca_file, "/ca.pem");
	assert_string_equal(environment.client_key_file, "/key.pem");
	assert_string_equal(environment.client_cert_file, "/cert.pem");
	assert_string_equal(environment.service_name, "power");
	otlp_environment_release(&environment);
}

static void lists_are_decoded(void **state)
{
	struct otlp_environment environment;

	SET("OTEL_EXPORTER_OTLP_ENDPOINT=http://c",
	    "OTEL_EXPORTER_OTLP_HEADERS= api-key = a%2Cb=c ,,",
	    "OTEL_RESOURCE_ATTRIBUTES=host.name=n1,deployment.environment.name=two%20words");
	read_into(&environment);
	assert_int_equal(environment.headers.count, 1);
	assert_string_equal(environment.headers.list[0].name, "api-key");
	assert_string_equal(environment.headers.list[0].value, "a,b=c");
	assert_int_equal(environment.resource.count, 2);
	assert_string_equal(environment.resource.list[1].value, "two words");
	otlp_environment_release(&environment);
}

static void a_value_that_cannot_be_is_refused(void **state)
{
	SET("OTEL_EXPORTER_OTLP_PROTOCOL=grpc");
	refuses("OTEL_EXPORTER_OTLP_PROTOCOL: Kepler sends http/protobuf");
	SET("OTEL_EXPORTER_OTLP_METRICS_COMPRESSION=zstd");
	refuses("OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: must be gzip or none");
	SET("OTEL_EXPORTER_OTLP_TIMEOUT=10s");
	refuses("OTEL_EXPORTER_OTLP_TIMEOUT: must be a number of milliseconds");
	SET("OTEL_METRIC_EXPORT_INTERVAL=0");
	refuses("OTEL_METRIC_EXPORT_INTERVAL: must be");
	SET("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=both");
	refuses("TEMPORALITY_PREFERENCE: must be cumulative, delta or lowmemory");
	/* A value of a header is a secret and is not shown. */
	SET("OTEL_EXPORTER_OTLP_HEADERS=a=b,secret");
	refuses("OTEL_EXPORTER_OTLP_HEADERS: item 2 is not NAME=VALUE");
	SET("OTEL_EXPORTER_OTLP_HEADERS=a=b%0d%0ac");
	refuses("OTEL_EXPORTER_OTLP_HEADERS: item 1 has no name");
	SET("OTEL_RESOURCE_ATTRIBUTES==x");
	refuses("OTEL_RESOURCE_ATTRIBUTES: item 1 has no name");
}

static void an_exporter_can_be_disabled(void **state)
{
	struct otlp_environment environment;

	SET("OTEL_EXPORTER_OTLP_ENDPOINT=http://c", "OTEL_METRICS_EXPORTER=none");
	read_into(&environment);
	assert_true(environment.is_disabled);
	otlp_environment_release(&environment);
	SET("OTEL_EXPORTER_OTLP_ENDPOINT=http://c", "OTEL_SDK_DISABLED=TRUE",
	    "OTEL_METRICS_EXPORTER=otlp");
	read_into(&environment);
	assert_true(environment.is_disabled);
	otlp_environment_release(&environment);
	SET("OTEL_EXPORTER_OTLP_ENDPOINT=http://c", "OTEL_METRICS_EXPORTER=console,otlp");
	read_into(&environment);
	assert_false(environment.is_disabled);
	otlp_environment_release(&environment);
}

static void a_base_url_gets_the_path_of_metrics(void **state)
{
	static const char *const cases[][2] = {
		{ "http://p:9090/api/v1/otlp", "http://p:9090/api/v1/otlp/v1/metrics" },
		{ "http://p:4318//", "http://p:4318/v1/metrics" },
		{ "https://p/v1/metrics", "https://p/v1/metrics" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP_FREE char *url = NULL;

		assert_int_equal(otlp_url_of_base(cases[i][0], &url), 0);
		assert_string_equal(url, cases[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_set_by_default),
		cmocka_unit_test(the_variable_of_metrics_is_whole),
		cmocka_unit_test(variables_of_metrics_take_precedence),
		cmocka_unit_test(lists_are_decoded),
		cmocka_unit_test(a_value_that_cannot_be_is_refused),
		cmocka_unit_test(an_exporter_can_be_disabled),
		cmocka_unit_test(a_base_url_gets_the_path_of_metrics),
	};

	return unit_run(tests);
}
