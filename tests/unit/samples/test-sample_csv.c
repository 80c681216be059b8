// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_table.h"

#include "tests/unit/samples/csv_text.h"
#include "tests/unit/unit.h"

static struct sample_table parse(const char *text)
{
	struct sample_table table = { .rows = 0 };
	struct diag diag = { "" };

	assert_int_equal(csv_text_read(text, strlen(text), &table, &diag), 0);
	return table;
}

static void assert_refused(const char *text, const char *why)
{
	struct sample_table table = { .rows = 7 };
	struct diag diag = { "" };

	assert_int_equal(csv_text_read(text, strlen(text), &table, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, why));
	assert_int_equal(table.rows, 7);
}

static bool is_value(double value, double expected)
{
	return fabs(value - expected) < 1e-9;
}

static void test_numbers_and_gaps(void **state)
{
	CLEANUP(sample_table_release)
	struct sample_table table = parse("a,b\n1,2.5e3\n,-4\nx,nan\n1e999,0x10\n");

	assert_int_equal(table.column_count, 2);
	assert_int_equal(table.rows, 4);
	assert_true(is_value(table.columns[0][0], 1) && is_value(table.columns[1][0], 2500));
	assert_true(isnan(table.columns[0][1]) && is_value(table.columns[1][1], -4));
	assert_true(isnan(table.columns[0][2]) && isnan(table.columns[1][2]));
	assert_true(isnan(table.columns[0][3]) && isnan(table.columns[1][3]));
}

static void test_text_and_nameless_columns_are_left_out(void **state)
{
	CLEANUP(sample_table_release)
	struct sample_table table = parse(",when,a,node\n0,2023-09-19,1,m5\n1,2023-09-20,2,m5\n");

	assert_int_equal(table.column_count, 1);
	assert_string_equal(table.names[0], "a");
	assert_int_equal(table.rows, 2);
	assert_true(is_value(table.columns[0][1], 2));
}

static void test_quotes_ends_of_lines_and_marks(void **state)
{
	CLEANUP(sample_table_release)
	struct sample_table table =
		parse("\xef\xbb\xbf\r\n\"a,\"\"x\"\"\",b\r\n\"1\",2\r\n\r\n3,\"4\"");

	assert_string_equal(table.names[0], "a,\"x\"");
	assert_int_equal(table.rows, 2);
	assert_true(is_value(table.columns[0][0], 1) && is_value(table.columns[1][0], 2));
	assert_true(is_value(table.columns[0][1], 3) && is_value(table.columns[1][1], 4));
}

static void test_a_quoted_line_end_counts_as_a_line(void **state)
{
	assert_refused("a,b\n\"x\ny\",1\n1,2,3\n",
		       ":4:6: this line has 3 cells, the first one has 2");
}

static void test_refused(void **state)
{
	assert_refused("", ":1: it is empty; the first line names the columns");
	assert_refused("\n\n", ":1: it is empty; the first line names the columns");
	assert_refused("a,b\n1,2\n3\n", ":3:2: this line has 1 cells, the first one has 2");
	assert_refused("a,a\n", ":1: two columns are named a");
	assert_refused("a\n\"1\n2",
		       ":2:1: a quoted cell does not end; its closing quote is missing");
	assert_refused("a\n\"1\"2\n", ":2:4: there is text after the closing quote of a cell");
	assert_refused("a\x01\n1\n",
		       ":1: the name of a column has control characters or is not UTF-8");
	assert_refused("a\xff\n1\n",
		       ":1: the name of a column has control characters or is not UTF-8");
	assert_refused("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n1\n",
		       ":1: the name of a column has more than 95 bytes");
}

static void test_written_tables_read_back_the_same(void **state)
{
	CLEANUP(sample_table_release)
	struct sample_table table = parse("\"a,\"\"x\"\"\",b\n0.1,\n,3\n1e300,-7\n");
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	assert_int_equal(sample_table_write_csv(&table, &out), 0);
	assert_string_equal(out.data, "\"a,\"\"x\"\"\",b\n0.1,\n,3\n1e+300,-7\n");
}

/* In a file a column without a name comes first, and is left out; then these begin the line. */
static void test_any_name_can_be_the_first(void **state)
{
	static const char *const names[] = { "\xef\xbb\xbf", "\xef\xbb\xbfload",
					     "a;b",          "SQLite format 3",
					     "{a",           "[a" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
		CLEANUP(sample_table_release) struct sample_table again = { .rows = 0 };
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

		strbuf_addf(&text, ",\"%s\"\n1,2\n", names[i]);
		table = parse(text.data);
		assert_int_equal(sample_table_write_csv(&table, &out), 0);
		again = parse(out.data);
		assert_int_equal(again.column_count, 1);
		assert_string_equal(again.names[0], names[i]);
	}
}

static void test_a_single_column_keeps_its_gaps(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = parse("a\n1\n\"\"\n2\n");
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	assert_int_equal(table.rows, 3);
	assert_int_equal(sample_table_write_csv(&table, &out), 0);
	assert_string_equal(out.data, "a\n1\n\"\"\n2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_and_gaps),
		cmocka_unit_test(test_text_and_nameless_columns_are_left_out),
		cmocka_unit_test(test_quotes_ends_of_lines_and_marks),
		cmocka_unit_test(test_a_quoted_line_end_counts_as_a_line),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_written_tables_read_back_the_same),
		cmocka_unit_test(test_any_name_can_be_the_first),
		cmocka_unit_test(test_a_single_column_keeps_its_gaps),
	};

	return unit_run(tests);
}
