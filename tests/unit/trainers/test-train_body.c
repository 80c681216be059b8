// SPDX-License-Identifier: Apache-2.0
#include "trainers/train_body.h"

#include "base/strbuf.h"
#include "tests/unit/unit.h"

#define TRAINERS "\"trainer\": {\"abs_trainers\": [\"Ridge\", \"Ridge\", \"XgboostFitTrainer\"]}"

static int read_text(const char *text, struct train_body *ret, struct diag *diag)
{
	return train_body_read(text, strlen(text), ret, diag);
}

static void test_series_stay_where_they_are(void **state)
{
	static const char text[] =
		"{\"prom_response\": {\"a\": [{\"name\": \"not this\"}]}, \"name\": \"mine\", "
		"\"trainer\": {\"dyn_trainers\": [\"Ridge\"], \"isolator\": "
		"\"ProfileBackgroundIsolator\", \"idle_prom_response\": [1, 2]}, "
		"\"use_vm_metrics\": true, \"machine_spec\": {\"cores\": 4}}";
	struct train_body body;
	struct diag diag = { "" };

	assert_int_equal(read_text(text, &body, &diag), 0);
	assert_string_equal(body.name, "mine");
	assert_string_equal(body.source, "rapl-sysfs");
	assert_int_equal(body.series.len, strlen("{\"a\": [{\"name\": \"not this\"}]}"));
	assert_memory_equal(body.series.text, "{\"a\":", 5);
	assert_int_equal(body.idle.len, strlen("[1, 2]"));
	assert_memory_equal(body.idle.text, "[1, 2]", 6);
	assert_int_equal(body.isolator, TRAIN_ISOLATE_PROFILE);
	assert_true(body.uses_vm_metrics);
	assert_int_equal(body.machine.cores, 4);
	assert_string_equal(body.machine.processor, TRAIN_SPEC_NONE);
}

static void test_arguments_of_the_train_isolator(void **state)
{
	static const char text[] =
		"{\"prom_response\": {}, \"trainer\": {\"dyn_trainers\": [\"Ridge\"], "
		"\"isolator\": \"TrainIsolator\", \"isolator_args\": {\"abs_pipeline_name\": "
		"\"ec2\", \"bg_hints\": [\"kube\", \"agent\"], \"target_hints\": [\"load\"], "
		"\"other\": [\"bg_hints\"]}}, \"bg_hints\": [\"not this\"]}";
	struct train_body body;
	struct diag diag = { "" };

	assert_int_equal(read_text(text, &body, &diag), 0);
	assert_int_equal(body.isolator, TRAIN_ISOLATE_MODEL);
	assert_string_equal(body.abs_pipeline, "ec2");
	assert_int_equal(body.bg_hints.count, 2);
	assert_string_equal(body.bg_hints.text[1], "agent");
	assert_int_equal(body.target_hints.count, 1);
	assert_string_equal(body.target_hints.text[0], "load");
}

static void test_trainers_are_looked_up(void **state)
{
	struct train_body body;
	struct diag diag = { "" };

	assert_int_equal(read_text("{\"prom_response\": {}, " TRAINERS "}", &body, &diag), 0);
	assert_int_equal(body.trainers[MODEL_ABS_POWER].count, 2);
	assert_ptr_equal(body.trainers[MODEL_ABS_POWER].list[0], trainer_find("Ridge"));
	assert_int_equal(body.trainers[MODEL_DYN_POWER].count, 0);
	assert_int_equal(body.isolator, TRAIN_ISOLATE_MINIMUM);
}

static void test_what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "[]", "must be a JSON object" },
		{ "{\"prom_response\": {}", "not JSON" },
		{ "{" TRAINERS "}", "prom_response: is missing" },
		{ "{\"prom_response\": {}}", "must name a trainer" },
		{ "{\"prom_response\": 1}", "prom_response: must be an object of series" },
		{ "{\"prom_response\": {}, \"prom_response\": {}}",
		  "duplicate object key near '\"prom_response\"" },
		{ "{\"name\": \"a/b\"}", "name: must have letters" },
		{ "{\"name\": \"..\"}", "name: must not be empty" },
		{ "{\"trainer\": {\"abs_trainers\": [\"eval\"]}}",
		  "trainer.abs_trainers: there is no trainer \"eval\"" },
		{ "{\"trainer\": {\"isolator\": \"eval\"}}", "trainer.isolator: must be" },
		{ "{\"machine_spec\": {\"cores\": 1.5}}", "machine_spec.cores: must be" },
		{ "{\"prom_response\": {}, \"trainer\": {\"dyn_trainers\": [\"Ridge\"], "
		  "\"isolator\": \"TrainIsolator\"}}",
		  "TrainIsolator needs idle_prom_response, or bg_hints" },
		{ "{\"trainer\": {\"isolator_args\": {\"bg_hints\": [\"\"]}}}",
		  "trainer.isolator_args.bg_hints: must not have an empty text" },
		{ "{\"trainer\": {\"isolator_args\": {\"bg_hints\": [\"a\",\"a\",\"a\",\"a\","
		  "\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
		  "\"a\"]}}}",
		  "trainer.isolator_args.bg_hints: has too many texts" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct train_body body;
		struct diag diag = { "" };

		assert_int_equal(read_text(cases[i].text, &body, &diag), -EINVAL);
		if (!strstr(diag.text, cases[i].why))
			fail_msg("%s: %s", cases[i].text, diag.text);
	}
}

static void test_everything_wrong_is_named(void **state)
{
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT, all = STRBUF_INIT;
	struct diag diag = { .more = &more };
	struct train_body body;

	assert_int_equal(read_text("{\"name\": \"a/b\", \"machine_spec\": {\"cores\": -1}, "
				   "\"trainer\": {\"abs_trainers\": [\"eval\"]}}",
				   &body, &diag),
			 -EINVAL);
	diag_join(&diag, "; ", &all);
	assert_string_equal(all.data,
			    "name: must have letters, digits, \".\", \"-\" and \"_\" only; "
			    "machine_spec.cores: must be a whole number; "
			    "trainer.abs_trainers: there is no trainer \"eval\"");
	diag = (struct diag){ .more = &more };
	strbuf_reset(&more);
	strbuf_reset(&all);
	assert_int_equal(read_text("{}", &body, &diag), -EINVAL);
	diag_join(&diag, "; ", &all);
	assert_string_equal(all.data, "prom_response: is missing; it must have the series; "
				      "trainer: abs_trainers or dyn_trainers must name a trainer");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_series_stay_where_they_are),
		cmocka_unit_test(test_arguments_of_the_train_isolator),
		cmocka_unit_test(test_trainers_are_looked_up),
		cmocka_unit_test(test_what_is_wrong_is_named),
		cmocka_unit_test(test_everything_wrong_is_named),
	};

	return unit_run(tests);
}
