// SPDX-License-Identifier: Apache-2.0
/* TEST_UPDATE_GOLDEN=1 rewrites golden/: look at the difference before you commit it. */
#include <jansson.h>

#include "base/file.h"
#include "base/num.h"
#include "explain/explain_print.h"
#include "tests/unit/unit.h"

#define NOW_MS 1795383047451LL

static void name(struct explain_answer *answer, enum label_key key, const char *text)
{
	(void)snprintf(answer->names[key], sizeof(answer->names[key]), "%s", text);
}

static struct explained_zone package(uint32_t number)
{
	return (struct explained_zone){
		.zone = { .kind = ZONE_PACKAGE,
			  .instance = { (char)('0' + number) },
			  .path = "intel-rapl:0",
			  .source = "rapl-sysfs" },
		.state = ZONE_UP,
		.flow = EXPLAINED_COUNTED,
		.from_ns = 5 * NSEC_PER_SEC,
		.to_ns = 6 * NSEC_PER_SEC + 12000,
		.energy_uj = 45123456,
		.counter_uj = 1279691346,
		.idle_state = IDLE_LEARNED,
		.idle_power_uw = 5000000,
		.by_socket = true,
		.package = number,
		.mode = { { .energy_uj = 40123396,
			    .named_uj = 40123396,
			    .named_weight = 1876210123,
			    .weight = 12345678,
			    .charged_uj = 264017,
			    .parties = 1 },
			  { .energy_uj = 5000060, .unattributed_uj = { 5000060 } } },
	};
}

/* A process in a pod's container: measured by socket, idle energy stays with the node. */
static void a_process(struct explain_answer *answer)
{
	*answer = (struct explain_answer){
		.target = "4711",
		.pid = 4711,
		.comm = "e\xe2\x80\xaeil\033[2J\n",
		.start_ms = NOW_MS - 100000,
		.series = EXPLAIN_SHOWN,
		.series_ms = NOW_MS - 90000,
		.now_ms = NOW_MS,
		.sequence = 731,
		.explanation = { .level = LEVEL_PROCESS,
				 .now_ns = 6 * NSEC_PER_SEC,
				 .span_ns = NSEC_PER_SEC,
				 .cpu_ns = 12345678,
				 .total_cpu_ns = 987654321,
				 .node_cpu_ns = 1876210123,
				 .zone_count = 1,
				 .zone = { package(0) },
				 .account_count = 1,
				 .account = { { .zone = package(0).zone,
						.zones = 1,
						.total_uj = { 12345678, 0 },
						.shown_uj = { 12000000, 0 } } } },
	};
	name(answer, LABEL_CONTAINER_ID,
	     "3f2a91c04b1e55aa00000000000000000000000000000000000000000000aaaa");
	name(answer, LABEL_CONTAINER_NAME, "checkout");
	name(answer, LABEL_RUNTIME, "kubernetes");
	name(answer, LABEL_NAMESPACE, "shop");
	name(answer, LABEL_POD_NAME, "checkout-7d9f");
	name(answer, LABEL_POD_ID, "11111111-2222-3333-4444-555555555555");
	name(answer, LABEL_WORKLOAD, "checkout");
	name(answer, LABEL_WORKLOAD_TYPE, "Deployment");
}

/* A new container: idle shared by size, dropped and unseen work, a gap, and zones that failed. */
static void a_container(struct explain_answer *answer)
{
	struct explanation *explanation = &answer->explanation;
	struct explained_zone *zone = explanation->zone;

	a_process(answer);
	explanation->level = LEVEL_CONTAINER;
	answer->series = EXPLAIN_SETTLES;
	answer->settle_ns = 15 * NSEC_PER_SEC;
	explanation->zone_count = 5;
	zone[0].idle_share = IDLE_SHARE_SIZE;
	zone[0].was_gap = true;
	zone[0].by_socket = false;
	explanation->account[0].zones = 5;
	explanation->account[0].shown_uj[MODE_DYNAMIC] = 0;
	zone[0].mode[MODE_DYNAMIC] = (struct explained_mode){
		.energy_uj = 40123396,
		.named_uj = 39988910,
		.unattributed_uj = { 0, 0, 120000, 14486 },
		.named_weight = 1869921399,
		.dropped_weight = 5611309,
		.unseen_weight = 677415,
		.weight = 112345678,
		.charged_uj = 2402551,
		.parties = 3,
	};
	zone[0].mode[MODE_IDLE] = (struct explained_mode){
		.energy_uj = 5000060,
		.named_uj = 5000060,
		.named_weight = 3000000000,
		.weight = 500000000,
		.charged_uj = 833343,
		.parties = 1,
	};
	explanation->account[0].total_uj[MODE_IDLE] = 833343;
	zone[1] = package(1);
	zone[1].flow = EXPLAINED_NOTHING;
	zone[1].state = ZONE_STALLED;
	zone[2] = package(2);
	zone[2].flow = EXPLAINED_UNKNOWN;
	zone[2].state = ZONE_REFUSED;
	zone[3] = package(3);
	zone[3].idle_state = IDLE_PROVISIONAL;
	zone[3].idle_power_uw = 0;
	zone[3].mode[MODE_IDLE].energy_uj = 0;
	zone[3].mode[MODE_DYNAMIC].weight = zone[3].mode[MODE_DYNAMIC].charged_uj = 0;
	zone[4] = package(4);
	zone[4].zone.quality = QUALITY_ESTIMATED;
	zone[4].zone.source = "trained_power_model";
	zone[4].zone.rank = RANK_MODEL;
	zone[4].idle_state = IDLE_FIXED;
	zone[4].idle_power_uw = 50000000;
	answer->model_count = 1;
	answer->models[0] = (struct explained_model){
		.zone = 4, .name = "lab-1", .error_w = 12.5, .outside = true
	};
	zone[4].mode[MODE_DYNAMIC] = (struct explained_mode){
		.energy_uj = 40123396,
		.unattributed_uj = { 0, 40123396 },
	};
}

/* A process that used a GPU, of two that one counter has. */
static void a_gpu_process(struct explain_answer *answer)
{
	struct explanation *explanation = &answer->explanation;
	struct explained_zone *zone = explanation->zone;

	a_process(answer);
	zone->zone = (struct zone){ .kind = ZONE_GPU,
				    .domain = { DOMAIN_DEVICE, 0 },
				    .instance = "GPU-4d3c2b1a-0000-4000-8000-000000000001",
				    .path = "nvidia0",
				    .source = "nvml" };
	zone->by_socket = false;
	zone->by_device = true;
	zone->idle_share = IDLE_SHARE_USAGE;
	zone->mode[MODE_IDLE].energy_uj = zone->mode[MODE_IDLE].named_uj = 40000000;
	zone->mode[MODE_IDLE].named_weight = zone->mode[MODE_DYNAMIC].named_weight;
	zone->mode[MODE_IDLE].weight = zone->mode[MODE_DYNAMIC].weight;
	zone->mode[MODE_IDLE].charged_uj = 263204;
	explanation->account[0].zone = zone->zone;
}

/* The same by cycles; those next to a busy thread count less. */
static void a_process_by_cycles(struct explain_answer *answer)
{
	struct explained_zone *zone = answer->explanation.zone;

	a_process(answer);
	zone->rule = SHARE_CYCLES;
	zone->smt_ppm = SHARE_SMT_PPM;
}

/* The same by the learned power of the zone, with a factor of the container. */
static void a_process_by_fit(struct explain_answer *answer)
{
	a_process(answer);
	answer->explanation.zone[0].rule = SHARE_FIT;
	answer->explanation.zone[0].factor = 1.25;
}

/* In a virtual machine: the host's account, and a meter of the machine's own as well. */
static void a_process_of_a_guest(struct explain_answer *answer)
{
	struct explanation *explanation = &answer->explanation;

	a_process(answer);
	explanation->zone_count = 2;
	explanation->zone[1] = package(0);
	explanation->zone[1].zone.source = "passthrough";
	explanation->zone[1].zone.instance[0] = '\0';
	explanation->zone[1].energy_uj = 45123457;
	answer->host = (struct explained_host){ "passthrough", 123456789, 61900000, 60000000 };
}

static void nothing(struct explain_answer *answer)
{
	*answer = (struct explain_answer){
		.target = "chekout\033c",
		.result = EXPLAIN_NOT_FOUND,
		.near = { "pod shop/checkout-7d9f", "container checkout (3f2a91c04b1e)" },
		.near_count = 2,
		.near_total = 50,
	};
}

static void check_golden(const struct strbuf *out, const char *file)
{
	CLEANUP_FREE char *want = NULL;
	const char *root = getenv("TEST_SOURCE_ROOT");
	char path[4096];
	size_t len = 0;

	(void)snprintf(path, sizeof(path), "%s/tests/unit/explain/golden/%s", root ? root : ".",
		       file);
	assert_int_equal(strbuf_error(out), 0);
	if (getenv("TEST_UPDATE_GOLDEN"))
		assert_int_equal(write_file_atomic(path, out->data, out->len, 0644), 0);
	if (read_file_alloc(path, 1 << 20, &want, &len) < 0)
		fail_msg("cannot read %s", path);
	assert_string_equal(out->data, want);
}

/* No line is wider than a terminal, and nothing moves its cursor. */
static void check_lines(const char *text)
{
	size_t columns = 0;

	for (; *text; text++) {
		columns += ((unsigned char)*text & 0xc0) != 0x80;
		if (*text == '\n')
			columns = 0;
		else
			assert_true((unsigned char)*text >= 0x20);
		assert_true(columns <= 80);
	}
}

static void is_as_the_golden_texts(void **state)
{
	static const struct {
		void (*fill)(struct explain_answer *);
		const char *file;
	} cases[] = {
		{ a_process, "explain-process.txt" },
		{ a_container, "explain-container.txt" },
		{ a_gpu_process, "explain-gpu.txt" },
		{ a_process_by_cycles, "explain-cycles.txt" },
		{ a_process_by_fit, "explain-fit.txt" },
		{ a_process_of_a_guest, "explain-guest.txt" },
		{ nothing, "explain-nothing.txt" },
	};
	static struct explain_answer answer;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

		cases[i].fill(&answer);
		explain_print(&answer, &out);
		check_lines(out.data);
		check_golden(&out, cases[i].file);
	}
}

/* Idle power that is 0 W is not a series that is new. */
static void no_idle_energy_has_its_reason(void **state)
{
	static struct explain_answer answer;
	struct explained_zone *zone = answer.explanation.zone;
	static const struct {
		uint64_t power_uw;
		bool settles;
		const char *says;
	} cases[] = {
		{ 0, false, "idle power is 0 W" },
		{ 5000000, true, "the idle series is new" },
		{ 5000000, false, "none in this time" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

		a_process(&answer);
		zone->mode[MODE_IDLE].energy_uj = 0;
		zone->idle_power_uw = cases[i].power_uw;
		zone->idle_settles = cases[i].settles;
		explain_print(&answer, &out);
		assert_non_null(strstr(out.data, cases[i].says));
	}
}

static void json_has_every_number(void **state)
{
	static struct explain_answer answer;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	json_t *root, *zone, *mode;

	a_container(&answer);
	explain_print_json(&answer, &out);
	root = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "level")), "container");
	assert_string_equal(json_string_value(json_object_get(root, "series")), "settles");
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(root, "names"), "pod_name")),
		"checkout-7d9f");
	assert_int_equal(json_array_size(json_object_get(root, "zones")), 5);
	zone = json_array_get(json_object_get(root, "zones"), 0);
	mode = json_object_get(zone, "idle");
	assert_int_equal(json_integer_value(json_object_get(mode, "charged_uj")), 833343);
	assert_int_equal(json_integer_value(json_object_get(zone, "energy_uj")), 45123456);
	assert_null(json_object_get(zone, "socket"));
	assert_string_equal(json_string_value(json_object_get(zone, "signal")), "cpu-time");
	assert_string_equal(json_string_value(json_object_get(zone, "unit")), "ns");
	json_decref(root);
	strbuf_reset(&out);
	nothing(&answer);
	explain_print_json(&answer, &out);
	root = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
	assert_string_equal(json_string_value(json_object_get(root, "result")), "not_found");
	assert_int_equal(json_array_size(json_object_get(root, "near")), 2);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_as_the_golden_texts),
		cmocka_unit_test(no_idle_energy_has_its_reason),
		cmocka_unit_test(json_has_every_number),
	};

	return unit_run(tests);
}
