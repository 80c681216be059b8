// SPDX-License-Identifier: Apache-2.0
#include "options/program.h"

#include "options/version.h"
#include "tests/unit/unit.h"

static int ran_argc;
static const char *ran_first;

static int run_measure(int argc, char *const *argv, char *const *environ_)
{
	(void)environ_;
	ran_argc = argc;
	ran_first = argc ? argv[0] : "";
	return 7;
}

static int run_look(int argc, char *const *argv, char *const *environ_)
{
	(void)argc, (void)argv, (void)environ_;
	return 8;
}

static int run_mend(int argc, char *const *argv, char *const *environ_)
{
	(void)argv, (void)environ_;
	return argc == 1 ? 9 : PROGRAM_WRONG_WORDS;
}

static const struct option rows[] = {
	{ "look.far", NULL, OPTION_BOOL, .offset = 0, .default_text = "false", .help = "Sees." },
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };
static const struct option_set options = { .sections = sections, .section_count = 1 };

static const struct command commands[] = {
	{ "measure", run_measure, "say what is", .what = "Says what is.", .options = &options },
	{ "look", run_look, "look at it", .more = "  look far\n", .words = "far near" },
};
static const struct command mending[] = {
	{ "mend", run_mend, "make whole", .what = "Makes whole.", .operands = "PART",
	  .more = "  mend leg\n", .options = &options },
	{ "see", run_mend, "see", .what = "Sees." },
};
static const struct program mender = { "mender", "Mends.", mending, ARRAY_SIZE(mending), NULL };
static const struct common_option common[] = { { "look.far", "see it" }, { NULL, NULL } };
static const struct command_hint hints[] = { { "stare", "look does it" }, { NULL, NULL } };
static const struct program full = { .name = "rule",
				     .about = "A rule.",
				     .commands = commands,
				     .count = ARRAY_SIZE(commands),
				     .unnamed = &commands[0],
				     .common = common,
				     .hints = hints,
				     .example = "  rule measure\n" };
static const struct program empty = { "rule-maker", "Makes rules.", NULL, 0, NULL };

static char *out, *err;

static int run(const struct program *program, const char *first, const char *second)
{
	char *const argv[] = { (char *)(uintptr_t)program->name, (char *)(uintptr_t)first,
			       (char *)(uintptr_t)second, NULL };
	size_t out_len, err_len;
	FILE *to_out, *to_err;
	int status;

	free(out);
	free(err);
	to_out = open_memstream(&out, &out_len);
	to_err = open_memstream(&err, &err_len);
	assert_non_null(to_out);
	assert_non_null(to_err);
	ran_argc = -1;
	status = program_run(program, first ? second ? 3 : 2 : 1, argv, NULL, to_out, to_err);
	(void)fclose(to_out);
	(void)fclose(to_err);
	return status;
}

static void a_command_gets_what_follows_it(void **state)
{
	assert_int_equal(run(&full, "measure", "--far"), 7);
	assert_int_equal(ran_argc, 1);
	assert_string_equal(ran_first, "--far");
	assert_int_equal(run(&full, "look", NULL), 8);
	assert_int_equal(ran_argc, -1);
}

static void flags_alone_are_of_the_unnamed_command(void **state)
{
	assert_int_equal(run(&full, NULL, NULL), 7);
	assert_int_equal(ran_argc, 0);
	assert_int_equal(run(&full, "--far", "--near"), 7);
	assert_int_equal(ran_argc, 2);
	assert_string_equal(ran_first, "--far");
}

static const char one_screen[] =
	"A rule.\n\n"
	"usage: rule [COMMAND] [OPTION]...\n\n"
	"  measure           say what is (if no command is given)\n"
	"  look              look at it\n"
	"  help              show the help of a command\n"
	"  completion        print a completion script for bash, zsh or fish\n"
	"  version           print the version (also --version, -v)\n"
	"\nCommon options:\n"
	"  --[no-]look.far                   see it\n"
	"\nExample:\n"
	"  rule measure\n"
	"\nAll options: rule help all. Those of one section: rule help SECTION\n"
	"  look\n";

static void help_is_made_of_the_table(void **state)
{
	static const char *const words[] = { "help", "--help", "-h" };
	static const char look[] = "  --[no-]look.far\n"
				   "      Sees. Default false; true or false.\n";
	char all[1024];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		assert_int_equal(run(&full, words[i], NULL), 0);
		assert_string_equal(out, one_screen);
	}
	/* A command takes precedence over a section. */
	assert_int_equal(run(&full, "help", "look"), 0);
	assert_int_equal(run(&full, "help", "all"), 0);
	(void)snprintf(all, sizeof(all), "%s\n%s", one_screen, look);
	assert_string_equal(out, all);
	assert_int_equal(run(&empty, "--help", NULL), 0);
	assert_string_equal(out, "Makes rules.\n\nusage: rule-maker --help | --version\n");
}

static void help_on_a_section_has_its_options(void **state)
{
	static const struct command one[] = { { "measure", run_measure, "say what is",
						.options = &options } };
	static const struct program ruler = {
		.name = "ruler", .about = "A ruler.", .commands = one, .count = 1, .unnamed = one
	};

	assert_int_equal(run(&ruler, "help", "look"), 0);
	assert_string_equal(out, "  --[no-]look.far\n"
				 "      Sees. Default false; true or false.\n");
	assert_int_equal(run(&ruler, "help", "lock"), 2);
	assert_string_equal(err, "ruler: lock: no such command or section; did you mean look?\n");
}

static void completion_is_for_three_shells(void **state)
{
	static const char *const shells[][2] = { { NULL, "complete -F _rule rule\n" },
						 { "bash", "complete -F _rule rule\n" },
						 { "zsh", "#compdef rule\n" },
						 { "fish", "complete -c rule -f\n" } };

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		assert_int_equal(run(&full, "completion", shells[i][0]), 0);
		assert_non_null(strstr(out, shells[i][1]));
	}
	assert_int_equal(run(&full, "completion", "--help"), 0);
	assert_memory_equal(out, "usage: rule completion", strlen("usage: rule completion"));
	assert_int_equal(run(&full, "completion", "tcsh"), 2);
	assert_string_equal(err, "rule: completion: must be bash, zsh or fish\n");
}

static void a_command_has_help_of_its_own_or_sees_the_flag(void **state)
{
	assert_int_equal(run(&full, "measure", "-h"), 0);
	assert_string_equal(out, "usage: rule measure [OPTION]...\n\nSays what is.\n\n"
				 "  --[no-]look.far\n"
				 "      Sees. Default false; true or false.\n");
	assert_int_equal(ran_argc, -1);
	assert_int_equal(run(&full, "look", "--help"), 8);
}

static void help_on_a_command_is_that_commands_own(void **state)
{
	assert_int_equal(run(&mender, "help", "mend"), 0);
	assert_string_equal(out, "usage: mender mend PART [OPTION]...\n\nMakes whole.\n\n"
				 "  mend leg\n\n"
				 "  --[no-]look.far\n"
				 "      Sees. Default false; true or false.\n");
	assert_int_equal(run(&mender, "see", "--help"), 0);
	assert_string_equal(out, "usage: mender see\n\nSees.\n\n");
	assert_int_equal(run(&full, "help", "look"), 0);
	assert_string_equal(out, "usage: rule look\n\nlook at it\n\n  look far\n");
	assert_int_equal(run(&mender, "help", "ment"), 2);
	assert_string_equal(err, "mender: ment: no such command; did you mean mend?\n");
}

static void wrong_operands_are_answered_with_the_usage(void **state)
{
	assert_int_equal(run(&mender, "mend", "leg"), 9);
	assert_string_equal(err, "");
	assert_int_equal(run(&mender, "mend", NULL), 2);
	assert_string_equal(
		err, "usage: mender mend PART [OPTION]...; mender mend --help explains it\n");
	assert_int_equal(run(&mender, "see", NULL), 2);
	assert_string_equal(err, "usage: mender see; mender see --help explains it\n");
	assert_string_equal(out, "");
}

static void version_is_of_the_program_that_is_asked(void **state)
{
	assert_int_equal(run(&empty, "--version", NULL), 0);
	assert_memory_equal(out, "rule-maker " KEPLER_VERSION,
			    strlen("rule-maker " KEPLER_VERSION));
	assert_int_equal(run(&full, "version", NULL), 0);
	assert_memory_equal(out, "rule " KEPLER_VERSION, strlen("rule " KEPLER_VERSION));
	assert_int_equal(run(&full, "-V", NULL), 0);
	assert_memory_equal(out, "rule " KEPLER_VERSION, strlen("rule " KEPLER_VERSION));
	assert_int_equal(run(&full, "-v", NULL), 0);
	assert_memory_equal(out, "rule " KEPLER_VERSION, strlen("rule " KEPLER_VERSION));
	assert_string_equal(err, "");
}

static void what_is_unknown_is_refused_with_the_nearest(void **state)
{
	assert_int_equal(run(&full, "mesure", NULL), 2);
	assert_string_equal(err, "rule: mesure: no such command; did you mean measure?\n");
	assert_int_equal(run(&full, "versoin", NULL), 2);
	assert_string_equal(err, "rule: versoin: no such command; did you mean version?\n");
	assert_int_equal(run(&full, "cook\033me", NULL), 2);
	assert_string_equal(err, "rule: cook?me: no such command; see --help\n");
	assert_int_equal(run(&full, "stare", NULL), 2);
	assert_string_equal(err, "rule: stare: no such command; look does it\n");
	assert_int_equal(run(&empty, "--hepl", NULL), 2);
	assert_string_equal(err, "rule-maker: --hepl: unknown flag; did you mean --help?\n");
	assert_int_equal(run(&empty, "--json", NULL), 2);
	assert_string_equal(err, "rule-maker: --json: unknown flag; see --help\n");
	assert_int_equal(run(&empty, NULL, NULL), 2);
	assert_string_equal(err, "rule-maker: no command; see --help\n");
	assert_string_equal(out, "");
}

static void what_cannot_be_written_fails(void **state)
{
	char name[] = "rule", flag[] = "--help";
	char *const argv[] = { name, flag, NULL };
	FILE *full_disk = fopen("/dev/full", "we");
	char said[80] = "";
	FILE *to_said = fmemopen(said, sizeof(said), "w");

	assert_non_null(full_disk);
	assert_non_null(to_said);
	assert_int_equal(program_run(&full, 2, argv, NULL, full_disk, to_said), 1);
	(void)fclose(full_disk);
	(void)fclose(to_said);
	assert_string_equal(said, "rule: standard output: No space left on device\n");
}

static int release(void **state)
{
	free(out);
	free(err);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_gets_what_follows_it),
		cmocka_unit_test(flags_alone_are_of_the_unnamed_command),
		cmocka_unit_test(help_is_made_of_the_table),
		cmocka_unit_test(help_on_a_section_has_its_options),
		cmocka_unit_test(completion_is_for_three_shells),
		cmocka_unit_test(a_command_has_help_of_its_own_or_sees_the_flag),
		cmocka_unit_test(help_on_a_command_is_that_commands_own),
		cmocka_unit_test(wrong_operands_are_answered_with_the_usage),
		cmocka_unit_test(version_is_of_the_program_that_is_asked),
		cmocka_unit_test(what_is_unknown_is_refused_with_the_nearest),
		cmocka_unit_test(what_cannot_be_written_fails),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, release);
}
