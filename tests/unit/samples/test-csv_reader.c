// SPDX-License-Identifier: Apache-2.0
#include "samples/csv_reader.h"

#include "tests/unit/unit.h"

static void open_text(struct csv_reader *reader, const char *text)
{
	struct diag diag = { "" };

	assert_int_equal(csv_reader_open(reader, "f.csv", text, strlen(text), &diag), 0);
	for (size_t i = 0; i < reader->count; i++)
		reader->place[i] = i;
}

static void test_rows(void **state)
{
	static const char text[] = "\xef\xbb\xbf\r\na,\"b\"\"\"\r\n1,-2.5e3\r\n\r\n\"3\",\n"
				   "\"x\r\ny\",0.30000000000000004\n7,8";
	static const double expected[][2] = {
		{ 1, -2500 }, { 3, (double)NAN }, { (double)NAN, 0.1 + 0.2 }, { 7, 8 }
	};
	CLEANUP(csv_reader_close) struct csv_reader reader = { .line = 0 };
	struct diag diag = { "" };
	double values[2];

	open_text(&reader, text);
	assert_string_equal(reader.names[1], "b\"");
	for (size_t row = 0; row < ARRAY_SIZE(expected); row++) {
		assert_int_equal(csv_reader_row(&reader, values, &diag), 1);
		for (size_t i = 0; i < 2; i++)
			assert_true(isnan(expected[row][i])
					    ? isnan(values[i])
					    : fabs(values[i] - expected[row][i]) < 1e-17);
	}
	assert_int_equal(csv_reader_row(&reader, values, &diag), 0);
}

static void test_behind_a_bad_row(void **state)
{
	CLEANUP(csv_reader_close) struct csv_reader reader = { .line = 0 };
	struct diag diag = { "" };
	double values[2];

	open_text(&reader, "a,b\n1\n\"2\"x,3\n4,5\n6,\"7");
	assert_int_equal(csv_reader_row(&reader, values, &diag), -EINVAL);
	assert_string_equal(diag.text, "f.csv:2:2: this line has 1 cells, the first one has 2");
	assert_int_equal(csv_reader_row(&reader, values, &diag), -EINVAL);
	assert_string_equal(diag.text,
			    "f.csv:3:4: there is text after the closing quote of a cell");
	assert_int_equal(csv_reader_row(&reader, values, &diag), 1);
	assert_true(fabs(values[0] - 4) < 1e-9 && fabs(values[1] - 5) < 1e-9);
	assert_int_equal(csv_reader_row(&reader, values, &diag), -EINVAL);
	assert_string_equal(diag.text, "f.csv:5:3: a quoted cell does not end; its closing quote "
				       "is missing");
	assert_int_equal(csv_reader_row(&reader, values, &diag), 0);
}

static void test_text_is_a_value_where_it_is_wanted(void **state)
{
	CLEANUP(csv_reader_close) struct csv_reader reader = { .line = 0 };
	struct diag diag = { "" };
	double first[2], second[2], third[2];

	open_text(&reader, "node,other\nn1,x\nn2,y\n\"n1\",z\n");
	reader.text_column = csv_reader_find(&reader, "node");
	assert_int_equal(csv_reader_row(&reader, first, &diag), 1);
	assert_int_equal(csv_reader_row(&reader, second, &diag), 1);
	assert_string_equal(reader.text, "n2");
	assert_int_equal(reader.row_line, 3);
	assert_int_equal(csv_reader_row(&reader, third, &diag), 1);
	assert_string_equal(reader.text, "n1");
	assert_true(fabs(first[0] - third[0]) < 0.5 && fabs(first[0] - second[0]) >= 1);
	assert_true(isnan(first[1]));
}

/* Formats that users have instead of CSV are named. */
static void test_other_formats_are_named(void **state)
{
	static const struct {
		const char *text, *why;
	} files[] = {
		{ "PAR1\x15\x04\x15", "f.csv: it is Parquet" },
		{ "\x80\x04\x95\x12", "f.csv: it is a pickle" },
		{ "PK\x03\x04\x14", "f.csv: it is a zip archive, or a spreadsheet" },
		{ "\x28\xb5\x2f\xfd\x04", "f.csv: it is compressed by zstd; unpack it" },
		{ "a;b;c\n1;2;3\n", "f.csv: the columns must be separated by commas, not by "
				    "semicolons" },
		{ "a\tb\n1\t2\n", "f.csv:1: the columns must be separated by commas, not by tabs" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct csv_reader reader = { .line = 0 };
		struct diag diag = { "" };

		assert_int_equal(csv_reader_open(&reader, "f.csv", files[i].text,
						 strlen(files[i].text), &diag),
				 -EINVAL);
		assert_memory_equal(diag.text, files[i].why, strlen(files[i].why));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_behind_a_bad_row),
		cmocka_unit_test(test_text_is_a_value_where_it_is_wanted),
		cmocka_unit_test(test_other_formats_are_named),
	};

	return unit_run(tests);
}
