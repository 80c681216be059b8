// SPDX-License-Identifier: Apache-2.0
/* Texts of an HMC's metrics service, in the form that IBM describes; the data is our own. */
#include "bmc/hmc_metrics.h"

#include "bmc/answer_object.h"
#include "tests/unit/unit.h"

#define WATT 1000000

static const char two_groups[] = "\"zcpc-environmentals-and-power\"\n"
				 "\"/api/cpcs/1\"\n"
				 "1763912345250\n"
				 "24.5,\"a, \\\"b\\\"\",31,14423\n"
				 "\n"
				 "\"/api/cpcs/2\"\n"
				 "1763912345251\n"
				 "23.0,\"\",30,210.5\n"
				 "23.0,\"\",30,999\n"
				 "\n"
				 "\n"
				 "\"logical-partition-usage\"\n"
				 "\"/api/logical-partitions/1\"\n"
				 "1763912345252\n"
				 "17,0,53\n"
				 "\n"
				 "\"/api/logical-partitions/2\"\n"
				 "1763912345253\n"
				 "0,0,0\n"
				 "\n"
				 "\n"
				 "\n";

static bool find(const char *text, const char *group, const char *object, int column,
		 struct hmc_sample *ret)
{
	return hmc_metrics_find(text, strlen(text), group, object, column, ret);
}

static void the_row_of_the_object_in_its_group(void **state)
{
	struct hmc_sample sample;

	assert_true(find(two_groups, HMC_GROUP_POWER, "/api/cpcs/1", 3, &sample));
	assert_int_equal(sample.power_uw, 14423ULL * WATT);
	assert_int_equal(sample.time_ms, 1763912345250);
	assert_true(find(two_groups, HMC_GROUP_POWER, "/api/cpcs/2", 3, &sample));
	assert_int_equal(sample.power_uw, 210500000);
	assert_true(find(two_groups, HMC_GROUP_CLASSIC, "/api/logical-partitions/1", 2, &sample));
	assert_int_equal(sample.power_uw, 53 * WATT);
	assert_int_equal(sample.time_ms, 1763912345252);
}

static void what_is_not_there_is_no_power(void **state)
{
	static const struct {
		const char *text, *group, *object;
		int column;
	} cases[] = {
		{ two_groups, HMC_GROUP_CLASSIC, "/api/logical-partitions/2", 2 }, /* 0 W */
		{ two_groups, HMC_GROUP_CLASSIC, "/api/logical-partitions/1", 3 },
		{ two_groups, HMC_GROUP_CLASSIC, "/api/logical-partitions/1", -1 },
		{ two_groups, HMC_GROUP_CLASSIC, "/api/cpcs/1", 2 },
		{ two_groups, HMC_GROUP_POWER, "/api/cpcs/1", 1 }, /* a text */
		{ two_groups, HMC_GROUP_DPM, "/api/cpcs/1", 3 },
		{ "", HMC_GROUP_DPM, "/api/x", 0 },
		{ "\n\n\n", HMC_GROUP_DPM, "/api/x", 0 },
		{ "partition-usage\n/api/x\n", HMC_GROUP_DPM, "/api/x", 0 },
		{ "partition-usage\n/api/x\n1\n\n", HMC_GROUP_DPM, "/api/x", 0 },
		{ "partition-usage\n/api/x\nsoon\n5\n\n", HMC_GROUP_DPM, "/api/x", 0 },
		{ "partition-usage\n/api/x\n1\n-5\n\n", HMC_GROUP_DPM, "/api/x", 0 },
		{ "partition-usage\n/api/x\n1\n1e7\n\n", HMC_GROUP_DPM, "/api/x", 0 },
		{ "partition-usage\n/api/x\n1\nnan\n\n", HMC_GROUP_DPM, "/api/x", 0 },
		{ "partition-usage\n/api/x\n1\n,\n\n", HMC_GROUP_DPM, "/api/x", 0 },
		{ "partition-usage\n/api/x\n1\n\"5\n\n", HMC_GROUP_DPM, "/api/x", 0 },
	};
	struct hmc_sample sample;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_false(find(cases[i].text, cases[i].group, cases[i].object, cases[i].column,
				  &sample));
}

/* Without its last lines, and with the lines of another system. */
static void an_end_may_be_missing(void **state)
{
	struct hmc_sample sample;

	assert_true(find("partition-usage\r\n/api/x\r\n1\r\n5\r\n", HMC_GROUP_DPM, "/api/x", 0,
			 &sample));
	assert_int_equal(sample.power_uw, 5 * WATT);
	assert_true(find("\n\npartition-usage\n/api/x\n1\n5", HMC_GROUP_DPM, "/api/x", 0, &sample));
}

static void a_context_says_which_column_it_is(void **state)
{
	CLEANUP(answer_object_release) json_t *answer = NULL;
	static const char text[] =
		"{\"metrics-context-uri\":\"/api/services/metrics/context/7\","
		"\"metric-group-infos\":[{\"group-name\":\"logical-partition-usage\","
		"\"metric-infos\":[{\"metric-name\":\"processor-usage\"}]},"
		"{\"group-name\":\"zcpc-environmentals-and-power\",\"metric-infos\":["
		"{\"metric-name\":\"humidity\"},{\"metric-name\":\"power-consumption-watts\"}]}]}";
	struct hmc_context context;

	answer = answer_object(text, strlen(text));
	assert_true(hmc_context_read(answer, HMC_GROUP_CLASSIC, &context));
	assert_string_equal(context.path.text, "/api/services/metrics/context/7");
	assert_int_equal(context.cpc_column, 1);
	assert_int_equal(context.partition_column, -1);
	assert_int_equal(json_object_del(answer, "metrics-context-uri"), 0);
	assert_false(hmc_context_read(answer, HMC_GROUP_CLASSIC, &context));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_row_of_the_object_in_its_group),
		cmocka_unit_test(what_is_not_there_is_no_power),
		cmocka_unit_test(an_end_may_be_missing),
		cmocka_unit_test(a_context_says_which_column_it_is),
	};

	return unit_run(tests);
}
