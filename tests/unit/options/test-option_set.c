// SPDX-License-Identifier: Apache-2.0
/* The options of another program: two parts with structs of their own, another prefix. */
#include "options/option_set.h"

#include "base/num.h"
#include "options/layers.h"
#include "options/render.h"
#include "options/schema.h"
#include "tests/unit/unit.h"

#define NAMES_MAX   3
#define VECTOR(...) ((const char *[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

struct kettle {
	uint64_t boil_ns;
	struct named_amount cups[NAMES_MAX];
	size_t cup_count;
};

struct garden {
	bool open;
	char *names[NAMES_MAX];
	size_t name_count;
	char *gate;
};

struct house {
	struct option_values values;
	char before; /* parts lie where they lie */
	struct garden garden;
	struct kettle kettle;
};

static const struct option own[] = {
	{ "config.file", NULL, OPTION_STRING, .offset = offsetof(struct house, values.file),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true, .not_in_file = true,
	  .help = "File." },
};

static const struct option kettle[] = {
	{ "kettle.boil", "kettle.boilFor", OPTION_DURATION,
	  .offset = offsetof(struct kettle, boil_ns), .min = 0, .max = 60 * NSEC_PER_SEC,
	  .default_text = "5s", .metavar = "DURATION", .help = "How long.", .reloadable = true },
	{ "kettle.cups", NULL, OPTION_AMOUNTS, .offset = offsetof(struct kettle, cups),
	  .count_offset = offsetof(struct kettle, cup_count), .list_max = NAMES_MAX, .min = 0,
	  .max = 9, .default_text = "", .metavar = "COLOUR=SUGAR", .example = "red=2",
	  .help = "Cups." },
};

static const struct option garden[] = {
	{ "garden.open", NULL, OPTION_BOOL, .offset = offsetof(struct garden, open),
	  .default_text = "true", .help = "Whether it is open." },
	{ "garden.names", NULL, OPTION_STRINGS, .offset = offsetof(struct garden, names),
	  .count_offset = offsetof(struct garden, name_count), .list_max = NAMES_MAX,
	  .default_text = "oak,elm", .metavar = "NAME", .help = "Trees." },
	{ "garden.gate", NULL, OPTION_STRING, .offset = offsetof(struct garden, gate),
	  .default_text = "green", .metavar = "COLOUR", .help = "Gate." },
};

static int check(const struct option_values *values, struct diag *diag)
{
	const struct house *house = (const struct house *)(const void *)values;

	if (house->kettle.boil_ns || house->garden.open)
		return 0;
	return diag_set(diag, -EINVAL, "kettle.boil: nothing to do");
}

static const struct option_section sections[] = {
	{ own, ARRAY_SIZE(own), 0 },
	{ kettle, ARRAY_SIZE(kettle), offsetof(struct house, kettle) },
	{ garden, ARRAY_SIZE(garden), offsetof(struct house, garden) },
};
static const char *const other_variables[] = { "HOUSE_OWNER", NULL };
static const struct option_program program = {
	.name = "house",
	.prefix = "HOUSE_",
	.other_variables = other_variables,
	.default_file = "",
	.reference_head = "# House\n\n",
};
static const struct option_set house_options = {
	.program = &program,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct house),
	.check = check,
};

/* A command of it that has an option of its own. */
struct visit {
	struct house house;
	bool loud;
};

static const struct option visit_rows[] = {
	{ "loud", NULL, OPTION_BOOL, .offset = offsetof(struct visit, loud),
	  .default_text = "false", .only_flag = true, .help = "Ring twice." },
};
static const struct option_section visit_sections[] = {
	{ visit_rows, ARRAY_SIZE(visit_rows), 0 },
};
static const struct option_set visit_options = {
	.program = &program,
	.base = &house_options,
	.sections = visit_sections,
	.section_count = ARRAY_SIZE(visit_sections),
	.size = sizeof(struct visit),
	.check = check,
};

static int load_set(const struct option_set *set, const char **flags, const char **variables,
		    struct option_values *ret, struct diag *diag)
{
	struct option_args args = { 0 };

	memcpy((void *)&args.argv, (const void *)&flags, sizeof(flags)); /* main()'s is not const */
	memcpy((void *)&args.environ_, (const void *)&variables, sizeof(variables));
	while (flags[args.argc])
		args.argc++;
	return options_load(set, &args, ret, diag);
}

static int load(const char **flags, const char **variables, struct house *ret, struct diag *diag)
{
	return load_set(&house_options, flags, variables, &ret->values, diag);
}

static void each_value_lands_in_its_part(void **state)
{
	struct house house = { 0 };
	struct diag diag = { 0 };

	assert_int_equal(load(VECTOR("--kettle.boil=7s", "--no-garden.open", "--kettle.cups=red=2",
				     "--kettle.cups", "blue=0.5", "--garden.names=ash"),
			      VECTOR("HOUSE_GARDEN_GATE=blue"), &house, &diag),
			 0);
	assert_true(house.kettle.boil_ns == 7 * NSEC_PER_SEC);
	assert_int_equal(house.kettle.cup_count, 2);
	assert_string_equal(house.kettle.cups[1].name, "blue");
	assert_float_equal(house.kettle.cups[1].amount, 0.5, 0);
	assert_false(house.garden.open);
	assert_int_equal(house.garden.name_count, 1);
	assert_string_equal(house.garden.names[0], "ash");
	assert_string_equal(house.garden.gate, "blue");
	assert_int_equal(house.values.origins[option_find(&house_options, "garden.gate")],
			 ORIGIN_ENVIRONMENT);
	assert_int_equal(house.before, 0);
	options_release(&house_options, &house.values);
	assert_null(house.garden.gate);
}

/* A variable of another prefix is ignored, an unknown one of this prefix is reported. */
static void the_prefix_is_the_sets(void **state)
{
	struct house house = { 0 };
	struct diag diag = { 0 };

	assert_int_equal(load(VECTOR(),
			      VECTOR("KEPLER_GARDEN_GATE=red", "HOUSE_OWNER=me", "HOUSE_PORT=1",
				     "HOUSE_PORTAL=2", "HOUSE_SERVICE_HOST=::1"),
			      &house, &diag),
			 0);
	assert_string_equal(house.garden.gate, "green");
	assert_string_equal(house.values.warnings,
			    "HOUSE_PORTAL: unknown environment variable, ignored");
	options_release(&house_options, &house.values);
}

static void refusals(void **state)
{
	static const struct {
		const char *flag;
		const char *text;
	} cases[] = {
		{ "--kettle.cups=red", "--kettle.cups: must be COLOUR=SUGAR, such as red=2, with "
				       "SUGAR from 0 to 9, not \"red\"" },
		{ "--kettle.boil=2m", "--kettle.boil: must be a duration from 0s to 1m, such as "
				      "500ms, 5s or 1m30s, not \"2m\"" },
		{ "--garden.gatr=x", "--garden.gatr: unknown flag; did you mean --garden.gate?" },
	};
	struct house house = { .before = 7 };
	struct diag diag = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(load(VECTOR(cases[i].flag), VECTOR(), &house, &diag), -EINVAL);
		assert_string_equal(diag.text, cases[i].text);
	}
	assert_int_equal(
		load(VECTOR("--kettle.boil=0", "--no-garden.open"), VECTOR(), &house, &diag),
		-EINVAL);
	assert_string_equal(diag.text, "kettle.boil: nothing to do");
	assert_int_equal(house.before, 7); /* untouched */
}

static void every_index_has_its_row(void **state)
{
	static const char *const names[] = { "config.file", "kettle.boil",  "kettle.cups",
					     "garden.open", "garden.names", "garden.gate" };

	assert_int_equal(option_count(&house_options), ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_string_equal(option_at(&house_options, i)->name, names[i]);
		assert_int_equal(option_find(&house_options, names[i]), i);
	}
	assert_int_equal(option_find_key(&house_options, "kettle.boilFor"), 1);
	assert_int_equal(option_find(&house_options, "garden.wall"), OPTION_NONE);
	assert_true(option_is_section(&house_options, "garden"));
	assert_false(option_is_section(&house_options, "web"));
}

static void documents_are_the_programs(void **state)
{
	struct strbuf text = STRBUF_INIT;

	options_sample(&house_options, &text);
	assert_non_null(strstr(text.data, "## Configuration of house(1)."));
	assert_non_null(strstr(text.data, "#garden:\n"));
	strbuf_release(&text);
	options_schema(&house_options, &text);
	assert_non_null(strstr(text.data, "\"title\":\"house configuration\""));
	strbuf_release(&text);
	options_reference(&house_options, &text);
	assert_non_null(strstr(text.data, "# House\n\n## config\n"));
	assert_non_null(strstr(text.data, "`HOUSE_GARDEN_OPEN`"));
	strbuf_release(&text);
}

/* A reload may change kettle.boil and nothing else, in whichever part it lies. */
static void what_stays_over_a_reload(void **state)
{
	struct house old = { 0 }, fresh = { 0 };
	struct diag diag = { 0 };
	char names[64];

	assert_int_equal(load(VECTOR(), VECTOR(), &old, &diag), 0);
	assert_int_equal(load(VECTOR("--kettle.boil=1s", "--kettle.cups=red=1", "--garden.gate=red",
				     "--garden.names=yew"),
			      VECTOR(), &fresh, &diag),
			 0);
	options_unreloadable_changes(&house_options, &old.values, &fresh.values, names,
				     sizeof(names));
	assert_string_equal(names, "kettle.cups, garden.names, garden.gate");
	options_keep_unreloadable(&house_options, &old.values, &fresh.values);
	assert_true(fresh.kettle.boil_ns == NSEC_PER_SEC);
	assert_int_equal(fresh.kettle.cup_count, 0);
	assert_string_equal(fresh.garden.gate, "green");
	assert_int_equal(fresh.garden.name_count, 2);
	options_release(&house_options, &old.values);
	options_release(&house_options, &fresh.values);
}

/* A command takes the program's options and its own; these say nothing to the others. */
static void a_command_has_options_of_its_own(void **state)
{
	struct visit visit = { .loud = false };
	struct house house;
	struct strbuf text = STRBUF_INIT;
	struct diag diag = { 0 };

	assert_int_equal(option_count(&visit_options), option_count(&house_options) + 1);
	assert_int_equal(load_set(&visit_options, VECTOR("--garden.gate=red", "--loud"), VECTOR(),
				  &visit.house.values, &diag),
			 0);
	assert_true(visit.loud);
	assert_string_equal(visit.house.garden.gate, "red");
	options_release(&visit_options, &visit.house.values);
	/* what looks like it is a value here */
	assert_int_equal(load_set(&visit_options, VECTOR("--garden.gate", "--loud"), VECTOR(),
				  &visit.house.values, &diag),
			 0);
	assert_false(visit.loud);
	assert_string_equal(visit.house.garden.gate, "--loud");
	options_release(&visit_options, &visit.house.values);
	assert_int_equal(load_set(&visit_options, VECTOR(), VECTOR("HOUSE_LOUD=true"),
				  &visit.house.values, &diag),
			 0);
	assert_false(visit.loud);
	assert_string_equal(visit.house.values.warnings,
			    "HOUSE_LOUD: unknown environment variable, ignored");
	options_release(&visit_options, &visit.house.values);
	assert_int_equal(options_load_text(&visit_options, "f", "loud: true\n", 11,
					   &visit.house.values, &diag),
			 -EINVAL);
	assert_string_equal(diag.text, "f:1:1: loud: cannot be set in a file");
	assert_int_equal(load(VECTOR("--loud"), VECTOR(), &house, &diag), -EINVAL);
	options_help(&visit_options, &text);
	assert_non_null(strstr(text.data, "--[no-]loud"));
	assert_null(strstr(text.data, "garden"));
	strbuf_release(&text);
}

static void a_flag_may_have_the_name_of_a_section(void **state)
{
	static const struct option rows[] = {
		{ "garden", NULL, OPTION_BOOL, .offset = offsetof(struct visit, loud),
		  .default_text = "false", .only_flag = true, .help = "Sit in it." },
	};
	static const struct option_section its[] = { { rows, ARRAY_SIZE(rows), 0 } };
	struct option_set set = visit_options;
	struct visit visit = { .loud = false };
	struct diag diag = { 0 };

	set.sections = its;
	assert_int_equal(load_set(&set, VECTOR("--garden"), VECTOR(), &visit.house.values, &diag),
			 0);
	assert_true(visit.loud);
	options_release(&set, &visit.house.values);
	assert_int_equal(options_load_text(&set, "f", "garden:\n  gate: red\n", 20,
					   &visit.house.values, &diag),
			 0);
	assert_string_equal(visit.house.garden.gate, "red");
	options_release(&set, &visit.house.values);
}

static void help_has_a_blank_line_between_sections(void **state)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	options_help(&house_options, &text);
	assert_string_equal(
		text.data,
		"  --config.file=FILE\n"
		"      File.\n"
		"\n"
		"  --kettle.boil=DURATION\n"
		"      How long. Default 5s; a duration from 0s to 1m, such as 500ms, 5s or\n"
		"      1m30s.\n"
		"  --kettle.cups=COLOUR=SUGAR\n"
		"      Cups. Must be COLOUR=SUGAR, such as red=2, with SUGAR from 0 to 9; may be\n"
		"      repeated, up to 3 times.\n"
		"\n"
		"  --[no-]garden.open\n"
		"      Whether it is open. Default true; true or false.\n"
		"  --garden.names=NAME\n"
		"      Trees. Default oak,elm; may be repeated, up to 3 times.\n"
		"  --garden.gate=COLOUR\n"
		"      Gate. Default green.\n");
}

static void a_part_of_a_name_is_near_it(void **state)
{
	static const struct {
		const char *text, *near;
	} table[] = {
		{ "kettle.biol", "kettle.boil" },
		{ "boil", "kettle.boil" },
		{ "bol", "kettle.boil" },
		{ "kettle.cu", "kettle.cups" },
		{ "cup", "kettle.cups" },
		{ "xyzzy", NULL },
		{ "ke", NULL },
	};
	char near[OPTION_NAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const char *found =
			option_nearest(&house_options, table[i].text, false, near, sizeof(near));

		if (table[i].near)
			assert_string_equal(found, table[i].near);
		else
			assert_null(found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_of_a_name_is_near_it),
		cmocka_unit_test(each_value_lands_in_its_part),
		cmocka_unit_test(the_prefix_is_the_sets),
		cmocka_unit_test(refusals),
		cmocka_unit_test(every_index_has_its_row),
		cmocka_unit_test(documents_are_the_programs),
		cmocka_unit_test(what_stays_over_a_reload),
		cmocka_unit_test(a_command_has_options_of_its_own),
		cmocka_unit_test(a_flag_may_have_the_name_of_a_section),
		cmocka_unit_test(help_has_a_blank_line_between_sections),
	};

	return unit_run(tests);
}
