// SPDX-License-Identifier: Apache-2.0
#include "snapshot/power_picture.h"

#include "energy/total.h"
#include "snapshot/power_text.h"
#include "snapshot/snapshot.h"
#include "tests/rig/test_owner.h"
#include "tests/unit/unit.h"

#define SECOND_NS 1000000000ULL
#define W         1000000ULL /* µJ in a second, and µW */

enum { PACKAGE, DRAM, PSYS, ZONES };

/* psys is the total; package and dram are inside it. */
struct node {
	struct zone kinds[ZONES];
	struct snapshot_zone zones[ZONES];
	struct ledger *ledger;
	struct power_scratch scratch;
	struct power_picture picture;
	const struct power_row_limits *limits; /* NULL: at a glance */
	uint64_t now_ns;
	uint32_t container;
};

static void set_up(struct node *node, bool shares_idle)
{
	static const enum zone_kind kinds[ZONES] = { ZONE_PACKAGE, ZONE_DRAM, ZONE_PSYS };
	static const struct ledger_options options = { .max_processes = 200, .max_containers = 10 };

	*node = (struct node){ .now_ns = SECOND_NS };
	assert_int_equal(ledger_new(&options, &node->ledger), 0);
	if (shares_idle)
		assert_int_equal(ledger_bear_idle(node->ledger), 0);
	for (uint32_t z = 0; z < ZONES; z++) {
		node->kinds[z] = (struct zone){ .kind = kinds[z], .source = "told" };
		assert_int_equal(ledger_add_zone(node->ledger, &node->kinds[z]), 0);
		node->zones[z] = (struct snapshot_zone){ .zone = node->kinds[z],
							 .state = ZONE_UP,
							 .has_begun = true,
							 .idle_state = IDLE_LEARNED,
							 .has_mode = { true, true },
							 .span_ns = SECOND_NS,
							 .total = z == PSYS ? 1 : TOTAL_NONE };
	}
}

static void tear_down(struct node *node)
{
	power_scratch_release(&node->scratch);
	ledger_free(node->ledger);
}

static void begin(struct node *node)
{
	static const struct test_owner owner = {
		.names.text = { [LABEL_CONTAINER_ID] = "c1",
				[LABEL_CONTAINER_NAME] = "web",
				[LABEL_NAMESPACE] = "shop",
				[LABEL_POD_NAME] = "checkout-7d9f",
				[LABEL_POD_ID] = "0b5c" },
	};

	node->now_ns += SECOND_NS;
	ledger_begin(node->ledger, node->now_ns);
	node->container = enter_owner(node->ledger, &owner);
}

/* Energy of the node; rows get all of it that is dynamic except @unattributed. */
static void use_zone(struct node *node, uint32_t zone, uint64_t dynamic, uint64_t idle,
		     uint64_t unattributed)
{
	ledger_node(node->ledger, zone, MODE_DYNAMIC, dynamic);
	ledger_node(node->ledger, zone, MODE_IDLE, idle);
	ledger_unattributed(node->ledger, zone, MODE_IDLE, UNATTRIBUTED_IDLE_POLICY, idle);
	ledger_unattributed(node->ledger, zone, MODE_DYNAMIC, UNATTRIBUTED_DROPPED, unattributed);
}

static void use(struct node *node, uint32_t pid, uint32_t zone, uint64_t energy_uj)
{
	uint32_t process = ledger_process(node->ledger, pid, 1, "worker", node->container);
	uint32_t column = ledger_column(node->ledger, zone, MODE_DYNAMIC);

	if (process == LEDGER_NONE)
		ledger_charge_container(node->ledger, node->container, column, energy_uj);
	else
		ledger_charge(node->ledger, process, column, energy_uj);
}

static void take(struct node *node)
{
	ledger_close(node->ledger);
	assert_int_equal(power_picture_take(&node->picture, node->ledger, node->zones,
					    node->limits ? node->limits : &power_glance, SECOND_NS,
					    1000, &node->scratch),
			 0);
}

static uint64_t sum_list(const struct power_picture *picture, const struct power_list *list)
{
	uint64_t sum = list->other_uw;

	for (uint32_t i = 0; i < list->count; i++)
		sum += picture->rows[list->first + i].power_uw;
	return sum;
}

static void assert_sums(const struct power_picture *picture)
{
	uint64_t rest = picture->idle_uw + picture->unattributed_uw, parts = 0;

	for (uint32_t i = 0; i < picture->part_count; i++)
		parts += picture->parts[i].power_uw;
	assert_int_equal(parts, picture->total_uw);
	assert_int_equal(sum_list(picture, &picture->view[LEVEL_PROCESS]) + rest,
			 picture->total_uw);
	assert_int_equal(sum_list(picture, &picture->view[LEVEL_CONTAINER]) + rest,
			 picture->total_uw);
}

static void assert_text(void (*print)(const struct power_picture *, struct strbuf *),
			const struct power_picture *picture, const char *expected)
{
	struct strbuf text = STRBUF_INIT;

	print(picture, &text);
	assert_string_equal(text.data ? text.data : "", expected);
	strbuf_release(&text);
}

/* 198 W; package and dram are inside. */
static void an_interval(struct node *node)
{
	begin(node);
	use_zone(node, PACKAGE, 80 * W, 12 * W, 0);
	use_zone(node, DRAM, 9 * W, 0, 0);
	use_zone(node, PSYS, 172 * W, 26 * W, W);
	use(node, 1, PACKAGE, 80 * W);
	use(node, 1, PSYS, 31 * W);
	use(node, 2, PSYS, 140 * W);
}

static void rows_are_of_the_total(void **state)
{
	const struct power_row *rows;
	struct node node;

	set_up(&node, false);
	an_interval(&node);
	take(&node);
	assert_true(node.picture.is_known);
	assert_int_equal(node.picture.total_uw, 198 * W);
	assert_int_equal(node.picture.idle_uw, 26 * W);
	assert_int_equal(node.picture.unattributed_uw, W);
	assert_sums(&node.picture);
	rows = node.picture.rows + node.picture.view[LEVEL_PROCESS].first;
	assert_int_equal(node.picture.view[LEVEL_PROCESS].count, 2);
	assert_int_equal(rows[0].pid, 2);
	assert_int_equal(rows[0].power_uw, 140 * W);
	assert_int_equal(rows[1].power_uw, 31 * W);
	assert_int_equal(rows[1].energy_uj, 31 * W);
	assert_string_equal(rows[0].owner, "shop/checkout-7d9f");
	assert_string_equal(node.picture.rows[node.picture.view[LEVEL_CONTAINER].first].owner,
			    "web in shop/checkout-7d9f");
	tear_down(&node);
}

/* A zone in the total only. */
static void a_bound_of_idle_power_is_marked(void **state)
{
	struct node node;

	set_up(&node, false);
	node.zones[PACKAGE].idle_state = IDLE_PROVISIONAL;
	an_interval(&node);
	take(&node);
	assert_false(node.picture.idle_is_provisional);
	node.zones[PSYS].idle_state = IDLE_PROVISIONAL;
	an_interval(&node);
	take(&node);
	assert_true(node.picture.idle_is_provisional);
	assert_text(power_text_uses, &node.picture,
		    "processes 171.0 · unattributed 1.0 · idle ≤ 26.0 (provisional)");
	tear_down(&node);
}

static void what_is_inside_is_shown_inside(void **state)
{
	struct node node;

	set_up(&node, false);
	an_interval(&node);
	take(&node);
	assert_text(power_text_total, &node.picture, "198.0 W");
	assert_text(power_text_parts, &node.picture, "package 92.0 · dram 9.0 · rest of psys 97.0");
	assert_text(power_text_uses, &node.picture,
		    "processes 171.0 · unattributed 1.0 · idle 26.0");
	/* As where a meter of the machine does not cover the parts. */
	begin(&node);
	use_zone(&node, PACKAGE, 80 * W, 0, 80 * W);
	use_zone(&node, PSYS, 70 * W, 0, 70 * W);
	take(&node);
	assert_text(power_text_parts, &node.picture, "psys 70.00");
	assert_sums(&node.picture);
	/* Zones that do not overlap. */
	node.zones[PACKAGE].total = node.zones[DRAM].total = 1;
	node.zones[PSYS].total = TOTAL_NONE;
	an_interval(&node);
	take(&node);
	assert_text(power_text_parts, &node.picture, "package 92.0 · dram 9.0");
	assert_int_equal(node.picture.total_uw, 101 * W);
	assert_sums(&node.picture);
	tear_down(&node);
}

static void printed_parts_make_the_printed_sum(void **state)
{
	struct node node;

	set_up(&node, false);
	begin(&node);
	use_zone(&node, PACKAGE, 3333333, 0, 3333333);
	use_zone(&node, DRAM, 3333333, 0, 3333333);
	use_zone(&node, PSYS, 10000000, 0, 10000000);
	take(&node);
	assert_text(power_text_total, &node.picture, "10.00 W");
	assert_text(power_text_parts, &node.picture,
		    "package 3.33 · dram 3.33 · rest of psys 3.34");
	tear_down(&node);
}

/* More than there is room for, and spans that do not divide. */
static void what_is_left_out_is_in_other(void **state)
{
	uint64_t sum = 0;
	struct node node;

	set_up(&node, false);
	begin(&node);
	for (uint32_t pid = 1; pid <= 150; pid++) {
		use(&node, pid, PSYS, pid * 7919);
		sum += pid * 7919;
	}
	use(&node, 0, PSYS, 5 * W); /* of a container, and no process */
	use_zone(&node, PSYS, sum + 5 * W, 0, 0);
	node.zones[PSYS].span_ns = 1000000007;
	take(&node);
	assert_int_equal(node.picture.view[LEVEL_PROCESS].count, POWER_TOP_PROCESSES);
	assert_int_equal(node.picture.view[LEVEL_PROCESS].left_out, 150 - POWER_TOP_PROCESSES);
	assert_int_equal(node.picture.rows[node.picture.view[LEVEL_PROCESS].first].pid, 150);
	assert_int_equal(
		node.picture.rows[node.picture.view[LEVEL_PROCESS].first + POWER_TOP_PROCESSES - 1]
			.pid,
		151 - POWER_TOP_PROCESSES);
	assert_sums(&node.picture);
	tear_down(&node);
}

/* A client's question: each row of each level, and its owner. */
static void a_whole_picture_has_every_row(void **state)
{
	const struct power_picture *picture;
	const struct power_row *row;
	uint64_t sum = 0;
	struct node node;

	set_up(&node, false);
	node.limits = &power_whole;
	begin(&node);
	for (uint32_t pid = 1; pid <= 150; pid++) {
		use(&node, pid, PSYS, pid * 7919);
		sum += pid * 7919;
	}
	use_zone(&node, PSYS, sum + W, 0, W);
	take(&node);
	picture = &node.picture;
	assert_true(picture->is_whole);
	assert_int_equal(picture->view[LEVEL_PROCESS].count, 150);
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		const struct power_list *list = &picture->view[level];

		assert_int_equal(list->left_out, 0);
		assert_int_equal(sum_list(picture, list), sum);
		assert_int_equal(list->other_uw, level == LEVEL_VM ? sum : 0);
	}
	row = &picture->rows[picture->view[LEVEL_PROCESS].first];
	assert_int_equal(row->pid, 150);
	assert_int_equal(row->power_uw, 150 * 7919);
	row = &picture->rows[row->belongs_to[LEVEL_CONTAINER]];
	assert_string_equal(row->owner, "web in shop/checkout-7d9f");
	assert_int_equal(row->belongs_to[LEVEL_VM], POWER_ROW_NONE);
	assert_string_equal(picture->rows[row->belongs_to[LEVEL_POD]].owner, "shop/checkout-7d9f");
	assert_string_equal(picture->rows[row->belongs_to[LEVEL_NAMESPACE]].owner, "shop");
	/* At a glance it has no groups again. */
	node.limits = &power_glance;
	take(&node);
	assert_false(picture->is_whole);
	assert_int_equal(picture->view[LEVEL_PROCESS].count, POWER_TOP_PROCESSES);
	assert_int_equal(picture->view[LEVEL_POD].count, 0);
	assert_int_equal(picture->rows[0].belongs_to[LEVEL_POD], POWER_ROW_NONE);
	tear_down(&node);
}

static const struct power_row *row_of(const struct power_picture *picture, enum view view,
				      const char *owner)
{
	const struct power_list *list = &picture->view[view];

	for (uint32_t i = 0; i < list->count; i++) {
		if (strcmp(picture->rows[list->first + i].owner, owner) == 0)
			return &picture->rows[list->first + i];
	}
	return NULL;
}

/* Processes of two users, in a pod and in a unit; a GPU next to the zone of the total. */
static void use_by_users(struct node *node, struct process_users *users)
{
	static const struct test_owner unit = {
		.names.text = { [LABEL_CONTAINER_ID] = "nginx.service",
				[LABEL_CONTAINER_NAME] = "nginx.service",
				[LABEL_NAMESPACE] = "system" },
	};
	uint32_t pod;

	begin(node);
	pod = node->container;
	use_zone(node, PSYS, 60 * W, 6 * W, 4 * W);
	use_zone(node, DRAM, 9 * W, 0, 2 * W);
	use(node, 1, PSYS, 30 * W);
	use(node, 1, DRAM, 7 * W);
	node->container = enter_owner(node->ledger, &unit);
	use(node, 2, PSYS, 20 * W);
	use(node, 3, PSYS, 5 * W);
	use(node, 4, PSYS, W);
	for (uint32_t pid = 1; pid <= 3; pid++)
		process_users_note(users, node->ledger, ledger_find_process(node->ledger, pid, 1),
				   pid == 2 ? 0 : 1000);
	node->container = pod;
}

static void services_users_and_gpus_make_the_total_too(void **state)
{
	struct process_users users = { .is_noted = true };
	const struct power_picture *picture;
	struct node node;

	set_up(&node, false);
	node.zones[DRAM].total = 2;
	node.zones[DRAM].zone.kind = ZONE_GPU;
	node.zones[DRAM].zone.domain = (struct domain){ DOMAIN_DEVICE, 3 };
	(void)snprintf(node.zones[DRAM].zone.instance, ZONE_INSTANCE_MAX, "GPU-7f");
	node.limits = &power_whole;
	node.scratch.users = &users;
	picture = &node.picture;
	use_by_users(&node, &users);
	take(&node);
	assert_true(picture->has_users);
	for (unsigned view = 0; view < VIEW_COUNT; view++)
		assert_int_equal(sum_list(picture, &picture->view[view]) + picture->idle_uw +
					 picture->unattributed_uw,
				 picture->total_uw);
	assert_int_equal(picture->total_uw, 75 * W);
	assert_int_equal(picture->view[VIEW_SERVICE].count, 1);
	assert_int_equal(row_of(picture, VIEW_SERVICE, "nginx.service")->power_uw, 26 * W);
	assert_int_equal(picture->view[VIEW_USER].count, 2);
	assert_int_equal(row_of(picture, VIEW_USER, "1000")->power_uw, 42 * W);
	assert_int_equal(row_of(picture, VIEW_USER, "0")->power_uw, 20 * W);
	assert_int_equal(picture->view[VIEW_USER].other_uw, W); /* of no known user */
	assert_int_equal(row_of(picture, VIEW_GPU, "gpu 3 GPU-7f")->power_uw, 7 * W);
	assert_int_equal(row_of(picture, VIEW_GPU, "gpu 3 GPU-7f")->energy_uj, 7 * W);
	/* A user of processes that do not run any more has no row. */
	begin(&node);
	use_zone(&node, PSYS, 5 * W, 0, 0);
	use(&node, 1, PSYS, 5 * W);
	take(&node);
	assert_int_equal(picture->view[VIEW_USER].count, 1);
	assert_int_equal(row_of(picture, VIEW_USER, "1000")->power_uw, 5 * W);
	assert_int_equal(row_of(picture, VIEW_GPU, "gpu 3 GPU-7f")->power_uw, 0);
	process_users_release(&users);
	tear_down(&node);
}

/* Beyond the rows that a picture can have, users are still summed from all processes. */
static void rows_beyond_the_limit_are_in_the_sums(void **state)
{
	static const struct ledger_options options = { .max_processes = POWER_ROWS_MAX + 200,
						       .max_containers = 10 };
	struct process_users users = { .is_noted = true };
	struct ledger *ledger;
	struct node node;

	set_up(&node, false);
	ledger_free(node.ledger);
	assert_int_equal(ledger_new(&options, &ledger), 0);
	node.ledger = ledger;
	for (uint32_t z = 0; z < ZONES; z++)
		assert_int_equal(ledger_add_zone(ledger, &node.kinds[z]), 0);
	node.limits = &power_whole;
	node.scratch.users = &users;
	begin(&node);
	for (uint32_t pid = 1; pid <= POWER_ROWS_MAX + 100; pid++) {
		use(&node, pid, PSYS, 1000);
		process_users_note(&users, ledger, ledger_find_process(ledger, pid, 1), 7);
	}
	use_zone(&node, PSYS, (POWER_ROWS_MAX + 100) * 1000, 0, 0);
	take(&node);
	assert_int_equal(node.picture.view[LEVEL_PROCESS].left_out, 100);
	assert_int_equal(row_of(&node.picture, VIEW_USER, "7")->power_uw,
			 (POWER_ROWS_MAX + 100) * 1000);
	process_users_release(&users);
	tear_down(&node);
}

/* A source that is read less often than once an interval. */
static void a_late_reading_changes_nothing(void **state)
{
	struct node node;

	set_up(&node, false);
	an_interval(&node);
	take(&node);
	begin(&node);
	node.zones[PSYS].span_ns = 0;
	take(&node);
	assert_true(node.picture.is_known);
	assert_int_equal(node.picture.total_uw, 198 * W);
	assert_sums(&node.picture);
	tear_down(&node);
}

static void a_fault_is_not_an_old_number(void **state)
{
	struct node node;

	set_up(&node, false);
	an_interval(&node);
	take(&node);
	begin(&node);
	node.zones[PSYS].span_ns = 0;
	node.zones[PSYS].state = ZONE_ERROR;
	use(&node, 7, PACKAGE, W);
	take(&node);
	assert_false(node.picture.is_known);
	assert_int_equal(node.picture.total_uw, 0);
	assert_text(power_text_total, &node.picture, "not known");
	assert_text(power_text_parts, &node.picture, "");
	assert_text(power_text_uses, &node.picture, "");
	tear_down(&node);
}

static void shared_idle_power_is_in_rows(void **state)
{
	struct node node;
	uint32_t process;

	set_up(&node, true);
	begin(&node);
	ledger_node(node.ledger, PSYS, MODE_IDLE, 20 * W);
	process = ledger_process(node.ledger, 1, 1, "worker", node.container);
	ledger_charge(node.ledger, process, ledger_column(node.ledger, PSYS, MODE_IDLE), 15 * W);
	ledger_unattributed(node.ledger, PSYS, MODE_IDLE, UNATTRIBUTED_NO_ACTIVITY, 5 * W);
	take(&node);
	assert_int_equal(node.picture.rows[node.picture.view[LEVEL_PROCESS].first].power_uw,
			 15 * W);
	assert_int_equal(node.picture.idle_uw, 5 * W);
	assert_sums(&node.picture);
	tear_down(&node);
}

static void an_estimate_says_so_and_how_wide(void **state)
{
	struct node node;

	set_up(&node, false);
	begin(&node);
	node.zones[PSYS].zone.quality = QUALITY_ESTIMATED;
	node.zones[PSYS].model_error_w = 0.034;
	node.zones[PSYS].has_mode[MODE_IDLE] = false; /* of a virtual machine */
	use_zone(&node, PSYS, 3340000, 0, 0);
	use(&node, 1, PSYS, 3340000);
	take(&node);
	assert_text(power_text_total, &node.picture, "3.34 W ± 0.034 W, estimated");
	assert_text(power_text_uses, &node.picture, "processes 3.34 · unattributed 0.00");
	/* The total is made of its parts; it is still the estimate of the whole. */
	node.zones[PSYS].total = TOTAL_NONE;
	node.zones[PACKAGE].zone.quality = QUALITY_ESTIMATED;
	node.zones[PACKAGE].model_error_w = 0.5;
	node.zones[PACKAGE].total = 1;
	begin(&node);
	use_zone(&node, PACKAGE, 3340000, 0, 0);
	take(&node);
	assert_text(power_text_total, &node.picture, "3.34 W ± 0.034 W, estimated");
	tear_down(&node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_of_the_total),
		cmocka_unit_test(a_bound_of_idle_power_is_marked),
		cmocka_unit_test(what_is_inside_is_shown_inside),
		cmocka_unit_test(printed_parts_make_the_printed_sum),
		cmocka_unit_test(what_is_left_out_is_in_other),
		cmocka_unit_test(a_whole_picture_has_every_row),
		cmocka_unit_test(services_users_and_gpus_make_the_total_too),
		cmocka_unit_test(rows_beyond_the_limit_are_in_the_sums),
		cmocka_unit_test(a_late_reading_changes_nothing),
		cmocka_unit_test(a_fault_is_not_an_old_number),
		cmocka_unit_test(shared_idle_power_is_in_rows),
		cmocka_unit_test(an_estimate_says_so_and_how_wide),
	};

	return unit_run(tests);
}
