// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_source.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macro.h"

#define LITTLE 64U /* bytes: a few rows */

/* A folder with two files, of which the second has other columns in another order. */
struct folder {
	char path[40], first[64], second[64];
};

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	struct folder *folder = calloc(1, sizeof(*folder));

	*state = folder;
	(void)snprintf(folder->path, sizeof(folder->path), "/tmp/test-sample_source-XXXXXX");
	if (!mkdtemp(folder->path))
		return -1;
	(void)snprintf(folder->first, sizeof(folder->first), "%s/a.csv", folder->path);
	(void)snprintf(folder->second, sizeof(folder->second), "%s/b.csv", folder->path);
	write_text(folder->first, ",node,load,none,package_power\n0,x,1,,10\n1,x,2,,20\n"
				  "2,x,3,,\n3,x,4,,40\n");
	write_text(folder->second, "package_power,dram_power,load\n50,5,5\n60,6,6\n");
	return 0;
}

static int tear_down(void **state)
{
	struct folder *folder = *state;

	(void)unlink(folder->first);
	(void)unlink(folder->second);
	(void)rmdir(folder->path);
	free(folder);
	return 0;
}

/* Rows as text, by the names of columns. */
struct listing {
	const struct sample_source *source;
	struct strbuf text;
	unsigned rows, end_at; /* 0: at none */
};

static int list_row(void *userdata, const double *values, struct diag *diag)
{
	struct listing *listing = userdata;

	if (++listing->rows == listing->end_at)
		return diag_set(diag, -ECANCELED, "enough");
	for (size_t i = 0; i < listing->source->column_count; i++)
		strbuf_addf(&listing->text, "%s=%g ", listing->source->names[i], values[i]);
	strbuf_add_char(&listing->text, '\n');
	return 0;
}

static void list(const struct sample_source *source, struct strbuf *ret)
{
	struct listing listing = { .source = source };
	struct diag diag = { "" };

	assert_int_equal(sample_source_each(source, list_row, &listing, &diag), 0);
	strbuf_add_char(&listing.text, '\0');
	*ret = listing.text;
}

static const char all_rows[] = "load=1 package_power=10 dram_power=nan \n"
			       "load=2 package_power=20 dram_power=nan \n"
			       "load=3 package_power=nan dram_power=nan \n"
			       "load=4 package_power=40 dram_power=nan \n"
			       "load=5 package_power=50 dram_power=5 \n"
			       "load=6 package_power=60 dram_power=6 \n";

/* Twice, whether they are kept or not. */
static void rows_are_the_same_each_time(void **state)
{
	const size_t memory[] = { SAMPLE_SOURCE_MEMORY, LITTLE };
	struct folder *folder = *state;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(memory); i++) {
		CLEANUP(sample_source_close) struct sample_source source = { .rows = 0 };
		CLEANUP(strbuf_release) struct strbuf first = STRBUF_INIT, again = STRBUF_INIT;
		struct diag diag = { "" };

		assert_int_equal(sample_source_open(&source, folder->path, memory[i / 2], &diag),
				 0);
		assert_int_equal(source.table != NULL, i / 2 == 0);
		assert_int_equal(source.rows, 6);
		list(&source, &first);
		list(&source, &again);
		assert_string_equal(first.data, all_rows);
		assert_string_equal(again.data, all_rows);
		assert_int_equal(sample_source_find(&source, "dram_power"), 2);
		assert_int_equal(sample_source_find(&source, "node"), SAMPLE_COLUMN_NONE);
	}
}

static void a_reading_can_be_ended(void **state)
{
	struct folder *folder = *state;

	for (unsigned i = 0; i < 2; i++) {
		CLEANUP(sample_source_close) struct sample_source source = { .rows = 0 };
		struct listing listing = { .source = &source, .end_at = 2 };
		struct diag diag = { "" };

		assert_int_equal(sample_source_open(&source, folder->path,
						    i ? LITTLE : SAMPLE_SOURCE_MEMORY, &diag),
				 0);
		assert_int_equal(sample_source_each(&source, list_row, &listing, &diag),
				 -ECANCELED);
		assert_string_equal(diag.text, "enough");
		assert_int_equal(listing.rows, 2);
		strbuf_release(&listing.text);
	}
}

static void what_cannot_be_read_is_named(void **state)
{
	struct sample_source source;
	struct folder *folder = *state;
	struct diag diag = { "" };

	write_text(folder->second, "load,package_power\n1,2\n3\n");
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(sample_source_open(&source, folder->second,
						    i ? 1 : SAMPLE_SOURCE_MEMORY, &diag),
				 -EINVAL);
		assert_non_null(strstr(diag.text, "b.csv:3"));
		assert_null(source.path);
	}
	assert_int_equal(sample_source_open(&source, "/nonexistent.csv", 1, &diag), -ENOENT);
	assert_string_equal(diag.text,
			    "/nonexistent.csv: cannot be read: No such file or directory");
}

/* What cannot be read again is refused, as soon as that is needed. */
static void a_pipe_is_read_once(void **state)
{
	struct sample_source source;
	struct folder *folder = *state;
	struct diag diag = { "" };

	assert_int_equal(unlink(folder->second), 0);
	assert_int_equal(mkfifo(folder->second, 0600), 0);
	for (unsigned i = 0; i < 2; i++) {
		pid_t writer = fork();

		if (writer == 0) {
			write_text(folder->second, "load,package_power\n1,2\n3,4\n5,6\n");
			_exit(0);
		}
		assert_true(writer > 0);
		if (i == 0) {
			assert_int_equal(sample_source_open(&source, folder->second,
							    SAMPLE_SOURCE_MEMORY, &diag),
					 0);
			assert_int_equal(source.rows, 3);
			sample_source_close(&source);
		} else {
			assert_int_equal(sample_source_open(&source, folder->second, 1, &diag),
					 -ENOTSUP);
			assert_non_null(strstr(diag.text, "no file that can be read again"));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_the_same_each_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_reading_can_be_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pipe_is_read_once, set_up, tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
