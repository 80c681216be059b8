// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/otlp_settings.h"
#include "tests/unit/unit.h"

static const char *const *variables; /* NAME, VALUE, …, NULL */

static const char *get(const char *name)
{
	for (size_t i = 0; variables[i]; i += 2) {
		if (strcmp(variables[i], name) == 0)
			return variables[i + 1];
	}
	return NULL;
}

#define SET(...) (variables = (const char *const[]){ __VA_ARGS__, NULL })

static char nothing[] = "", endpoint[] = "http://option:4318", header[] = "x-a=option";

static struct otlp_options options_of(char *url)
{
	return (struct otlp_options){ .endpoint = url,
				      .interval_ns = OTLP_INTERVAL_AUTO,
				      .target = { .user = nothing,
						  .password_file = nothing,
						  .token_file = nothing,
						  .ca_file = nothing,
						  .client_cert_file = nothing,
						  .client_key_file = nothing,
						  .proxy_url = nothing,
						  .timeout_ns = 10 * NSEC_PER_SEC } };
}

static void read_into(const struct otlp_options *options, struct otlp_settings *ret)
{
	struct diag diag = { 0 };

	if (otlp_settings_read(options, get, ret, &diag) < 0)
		fail_msg("%s", diag.text);
}

static void options_take_precedence(void **state)
{
	struct otlp_options options = options_of(endpoint);
	CLEANUP(otlp_settings_release) struct otlp_settings settings;

	options.interval_ns = 5 * NSEC_PER_SEC;
	options.temporality = OTLP_CUMULATIVE;
	options.compression = OTLP_GZIP;
	options.target.headers[0] = header;
	options.target.header_count = 1;
	SET("OTEL_EXPORTER_OTLP_ENDPOINT", "http://variable", "OTEL_METRIC_EXPORT_INTERVAL", "1000",
	    "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta",
	    "OTEL_EXPORTER_OTLP_COMPRESSION", "none", "OTEL_EXPORTER_OTLP_HEADERS", "x-b=c",
	    "OTEL_EXPORTER_OTLP_TIMEOUT", "3000");
	read_into(&options, &settings);
	assert_string_equal(settings.url, "http://option:4318/v1/metrics");
	assert_int_equal(settings.interval_ns, 5 * NSEC_PER_SEC);
	assert_true(settings.is_gzip && !settings.is_delta);
	assert_int_equal(settings.target.header_count, 1);
	assert_string_equal(settings.target.headers[0], "x-a=option");
	assert_int_equal(settings.target.timeout_ns, 3 * NSEC_PER_SEC); /* not set by an option */
	assert_int_equal(settings.levels, LEVEL_BIT(LEVEL_CONTAINER));
}

static void variables_are_the_rest(void **state)
{
	struct otlp_options options = options_of(nothing);
	CLEANUP(otlp_settings_release) struct otlp_settings settings;

	SET("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "https://variable/x",
	    "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta",
	    "OTEL_EXPORTER_OTLP_HEADERS", "x-b=c%20d", "OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem");
	assert_true(otlp_is_wanted(&options, get));
	read_into(&options, &settings);
	assert_string_equal(settings.url, "https://variable/x");
	assert_int_equal(settings.interval_ns, 60 * NSEC_PER_SEC);
	assert_true(settings.is_gzip && settings.is_delta);
	assert_string_equal(settings.target.headers[0], "x-b=c d");
	assert_string_equal(settings.target.ca_file, "/ca.pem");
	SET("OTEL_METRIC_EXPORT_INTERVAL", "1000");
	assert_false(otlp_is_wanted(&options, get));
}

static void bad_variables_are_named(void **state)
{
	static const char *const cases[][3] = {
		{ "OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318",
		  "OTEL_EXPORTER_OTLP_ENDPOINT: " },
		{ "OTEL_EXPORTER_OTLP_HEADERS", "Host=x", "OTEL_EXPORTER_OTLP_HEADERS: item 1 " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct otlp_options options = options_of(i == 0 ? nothing : endpoint);
		CLEANUP(otlp_settings_release) struct otlp_settings settings;
		struct diag diag = { 0 };

		SET(cases[i][0], cases[i][1]);
		assert_int_equal(otlp_settings_read(&options, get, &settings, &diag), -EINVAL);
		if (strncmp(diag.text, cases[i][2], strlen(cases[i][2])) != 0)
			fail_msg("%s", diag.text);
	}
}

static bool has(const struct strbuf *resource, const char *text)
{
	return memmem(resource->data, resource->len, text, strlen(text));
}

/* The attributes of the pod that Kepler runs in are not those of what it measures. */
static void attributes_of_owners_are_not_taken(void **state)
{
	CLEANUP(otlp_environment_release) struct otlp_environment environment;
	CLEANUP(strbuf_release) struct strbuf resource = STRBUF_INIT;
	char instance[64];

	SET("OTEL_RESOURCE_ATTRIBUTES",
	    "host.name=given,k8s.pod.name=kepler-1,container.id=c1,process.pid=1,"
	    "k8s.cluster.name=prod,service.instance.id=i1,service.name=s1,k8s.node.name=n1",
	    "OTEL_SERVICE_NAME", "power");
	assert_int_equal(otlp_environment_read(get, true, &environment, NULL), 0);
	assert_int_equal(otlp_resource_make(&environment, "node", "id", &resource, instance,
					    sizeof(instance)),
			 0);
	assert_string_equal(instance, "i1");
	assert_true(has(&resource, "given") && has(&resource, "prod") && has(&resource, "n1"));
	assert_true(has(&resource, "power") && has(&resource, "host.id"));
	assert_false(has(&resource, "node\x0a") || has(&resource, "kepler-1") ||
		     has(&resource, "c1") || has(&resource, "process.pid") ||
		     has(&resource, "s1") || has(&resource, "service.instance.id"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_take_precedence),
		cmocka_unit_test(variables_are_the_rest),
		cmocka_unit_test(bad_variables_are_named),
		cmocka_unit_test(attributes_of_owners_are_not_taken),
	};

	return unit_run(tests);
}
