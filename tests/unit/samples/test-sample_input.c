// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_input.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/unit/unit.h"

/* A folder with two files. The second one has other columns in another order. */
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
	(void)snprintf(folder->path, sizeof(folder->path), "/tmp/test-sample_input-XXXXXX");
	if (!mkdtemp(folder->path))
		return -1;
	(void)snprintf(folder->first, sizeof(folder->first), "%s/a.csv", folder->path);
	(void)snprintf(folder->second, sizeof(folder->second), "%s/b.csv", folder->path);
	write_text(folder->first, ",node,load,none,package_power\n0,x,1,,10\n1,x,2,,20\n");
	write_text(folder->second, "package_power,dram_power,load\n50,5,5\n60,,6\n");
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

static void columns_of_files_have_their_places_by_name(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct folder *folder = *state;
	struct diag diag = { "" };

	assert_int_equal(sample_input_read(folder->path, &table, &diag), 0);
	assert_int_equal(sample_table_write_csv(&table, &text), 0);
	assert_string_equal(text.data, "load,package_power,dram_power\n1,10,\n2,20,\n5,50,5\n"
				       "6,60,\n");
}

static void what_cannot_be_read_is_named(void **state)
{
	struct sample_table table = { .rows = 7 };
	struct folder *folder = *state;
	struct diag diag = { "" };

	assert_int_equal(sample_input_read("/nonexistent.csv", &table, &diag), -ENOENT);
	write_text(folder->second, "a,b\n1,2\n3\n");
	assert_int_equal(sample_input_read(folder->path, &table, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "b.csv:3:2: this line has 1 cells"));
	assert_int_equal(table.rows, 7);
}

/* Its 1,000 rows are packed, whatever the file is called; then its last bytes are missing. */
static void packed_files_are_read_and_cut_ones_refused(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	struct folder *folder = *state;
	gzFile file = gzopen(folder->second, "w");
	struct diag diag = { "" };
	struct stat info;

	assert_true(gzputs(file, "load\n") > 0);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(gzprintf(file, "%u\n", i * i) > 0);
	assert_int_equal(gzclose(file), Z_OK);
	assert_int_equal(sample_input_read(folder->second, &table, &diag), 0);
	assert_int_equal(table.rows, 1000);
	assert_true(fabs(table.columns[0][999] - 998001) < 0.5);
	assert_int_equal(stat(folder->second, &info), 0);
	assert_int_equal(truncate(folder->second, info.st_size - 20), 0);
	sample_table_release(&table);
	assert_int_equal(sample_input_read(folder->second, &table, &diag), -EIO);
	assert_non_null(strstr(diag.text, "b.csv: cannot be read: unexpected end of file"));
}

static void more_rows_than_the_limit_are_refused(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	struct folder *folder = *state;
	FILE *file = fopen(folder->second, "w");
	struct diag diag = { "" };

	assert_non_null(file);
	assert_true(fputs("load\n", file) >= 0);
	for (unsigned i = 0; i < SAMPLE_ROWS_MAX - 2; i++)
		assert_true(fputs("1\n", file) >= 0);
	assert_int_equal(fflush(file), 0);
	assert_int_equal(sample_input_read(folder->path, &table, &diag), 0);
	assert_int_equal(table.rows, SAMPLE_ROWS_MAX);
	assert_true(fputs("1\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(sample_input_read(folder->path, &table, &diag), -E2BIG);
	assert_non_null(strstr(diag.text, "b.csv:1000000: there are more than 1000000 rows"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(columns_of_files_have_their_places_by_name, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(packed_files_are_read_and_cut_ones_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(more_rows_than_the_limit_are_refused, set_up,
						tear_down),
	};

	return unit_run(tests);
}
