// SPDX-License-Identifier: Apache-2.0
#include "model-server/api_request.h"

#include "base/strbuf.h"
#include "tests/unit/unit.h"

/* As an old Kepler sends it. */
static const char of_kepler[] =
	"{\"metrics\": [\"bpf_cpu_time_ms\", \"bpf_page_cache_hit\", \"cpu_architecture\"],"
	" \"output_type\": \"DynPower\", \"source\": \"intel_rapl\", \"node_type\": 0,"
	" \"weight\": true, \"trainer_name\": \"SGDRegressorTrainer\", \"filter\": \"\","
	" \"machine_spec\": {\"vendor\": \"genuineintel\", \"processor\":"
	" \"intel_xeon_e5_2686v4\", \"cores\": 72, \"chips\": 2, \"memory\": 503, \"frequency\":"
	" 2300, \"threads_per_core\": 2}}";

static void keplers_request_is_read(void **state)
{
	struct api_request request;

	assert_int_equal(api_request_read(of_kepler, strlen(of_kepler), &request, NULL), 0);
	assert_true(request.weights);
	assert_int_equal(request.choice.files, FILE_WEIGHTS);
	assert_int_equal(request.choice.output, MODEL_DYN_POWER);
	assert_int_equal(request.choice.feature_count, 3);
	assert_string_equal(request.choice.features[2], "cpu_architecture");
	assert_string_equal(request.choice.trainer, "SGDRegressorTrainer");
	assert_string_equal(request.choice.machine.processor, "intel_xeon_e5_2686v4");
	assert_int_equal(request.choice.node_type, -1); /* the machine counts before the 0 */
	assert_false(request.choice.exact);
	api_request_release(&request);
}

static void the_rest_has_defaults(void **state)
{
	static const char text[] = "{\"metrics\": [\"a\"], \"node_type\": 3, \"loose_node_type\": "
				   "false, \"machine_spec\": "
				   "null, \"filter\": null, \"unknown\": 1}";
	struct api_request request;

	assert_int_equal(api_request_read(text, strlen(text), &request, NULL), 0);
	assert_false(request.weights);
	assert_int_equal(request.choice.files, FILE_ARCHIVE);
	assert_int_equal(request.choice.output, MODEL_ABS_POWER);
	assert_int_equal(request.choice.node_type, 3);
	assert_true(request.choice.exact);
	assert_string_equal(request.choice.filter, "");
	api_request_release(&request);
}

static void errors_are_reported_by_key(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "not JSON" },
		{ "[]", "must be a JSON object" },
		{ "{}", "metrics:" },
		{ "{\"metrics\": []}", "metrics:" },
		{ "{\"metrics\": [1]}", "metrics:" },
		{ "{\"metrics\": [\"a\"], \"output_type\": \"Power\"}", "output_type:" },
		{ "{\"metrics\": [\"a\"], \"source\": 1}", "source:" },
		{ "{\"metrics\": [\"a\"], \"weight\": \"yes\"}", "weight:" },
		{ "{\"metrics\": [\"a\"], \"node_type\": 1.5}", "node_type:" },
		{ "{\"metrics\": [\"a\"], \"node_type\": -2}", "node_type:" },
		{ "{\"metrics\": [\"a\"], \"machine_spec\": 1}", "machine_spec:" },
		{ "{\"metrics\": [\"a\"], \"metrics\": [\"b\"]}", "not JSON" },
	};
	struct api_request request;
	struct diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		diag.text[0] = '\0';
		assert_int_equal(
			api_request_read(cases[i].text, strlen(cases[i].text), &request, &diag),
			-EINVAL);
		assert_non_null(strstr(diag.text, cases[i].why));
	}
}

/* "name=value" pairs, NULL at the end. */
static const char *find_argument(void *userdata, const char *name)
{
	for (const char *const *pair = userdata; *pair; pair++)
		if (strncmp(*pair, name, strlen(name)) == 0 && (*pair)[strlen(name)] == '=')
			return *pair + strlen(name) + 1;
	return NULL;
}

static void a_query_is_read(void **state)
{
	static const char *arguments[] = { "features=a,b%5fc",
					   "output=DynPower",
					   "processor=Intel%28R%29%20Xeon%28R%29",
					   "cores=8",
					   "max-error=2.5",
					   "format=weights",
					   NULL };
	struct api_request request;

	assert_int_equal(api_request_query(find_argument, arguments, &request, NULL), 0);
	assert_int_equal(request.choice.feature_count, 2);
	assert_string_equal(request.choice.features[0], "a");
	assert_string_equal(request.choice.features[1], "b_c");
	assert_string_equal(request.choice.machine.processor, "intel_xeon");
	assert_int_equal(request.choice.machine.cores, 8);
	assert_true(fabs(request.choice.max_error - 0.025) < 1e-9);
	assert_int_equal(request.choice.output, MODEL_DYN_POWER);
	assert_true(request.choice.no_pickles);
	assert_int_equal(request.choice.files, FILE_WEIGHTS);
}

static void bad_queries_are_refused(void **state)
{
	static const char *const bad[] = { "features=%zz", "output=x",     "cores=-1",
					   "cores=1e99",   "format=shape", "max-error=-2" };
	struct api_request request;
	struct diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *arguments[] = { bad[i], NULL };

		assert_int_equal(api_request_query(find_argument, arguments, &request, &diag),
				 -EINVAL);
	}
}

/* 256 names, in either API. */
static void no_more_names_than_there_is_room_for(void **state)
{
	for (size_t count = API_METRICS_MAX; count <= API_METRICS_MAX + 1; count++) {
		CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT;
		CLEANUP(strbuf_release) struct strbuf query = STRBUF_INIT;
		int expected = count == 256 ? 0 : -EINVAL;
		const char *arguments[] = { NULL, NULL };
		struct api_request request;
		int r;

		strbuf_add_str(&json, "{\"metrics\": [\"a\"");
		strbuf_add_str(&query, "features=a");
		for (size_t i = 1; i < count; i++) {
			strbuf_add_str(&json, ",\"a\"");
			strbuf_add_str(&query, ",a");
		}
		strbuf_add_str(&json, "]}");
		r = api_request_read(json.data, json.len, &request, NULL);
		assert_int_equal(r, expected);
		if (r == 0)
			api_request_release(&request);
		arguments[0] = query.data;
		assert_int_equal(api_request_query(find_argument, arguments, &request, NULL),
				 expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keplers_request_is_read),
		cmocka_unit_test(the_rest_has_defaults),
		cmocka_unit_test(errors_are_reported_by_key),
		cmocka_unit_test(a_query_is_read),
		cmocka_unit_test(bad_queries_are_refused),
		cmocka_unit_test(no_more_names_than_there_is_room_for),
	};

	return unit_run(tests);
}
