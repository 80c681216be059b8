// SPDX-License-Identifier: Apache-2.0
#include "evidence/published_report.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static int read_report(const char *text, struct published_report *ret, struct diag *diag)
{
	static struct text_input input;
	int fd = memfd_create("report", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(text_input_open_fd(&input, fd, "report.json", diag), 0);
	int r = published_report_read_input(&input, ret, diag);
	text_input_close(&input);
	return r;
}

static void both_forms_are_read(void **state)
{
	struct published_report report;
	struct diag diag = { "" };

	assert_int_equal(read_report("{\"file_path\": \"x\", \"machine_spec\": [{\"type\": "
				     "\"vm\"}], \"result\": [{\"metric-name\": \"dram - dynamic\", "
				     "\"value\": {\"mse\": 8.88, \"mape\": Infinity, \"status\": "
				     "\"mape passed: true\"}}, {\"metric-name\": \"core\", "
				     "\"value\": {\"mse\": \"1\", \"mape\": \"2\", \"mae\": "
				     "\"3\"}}]}",
				     &report, &diag),
			 0);
	assert_int_equal(report.count, 2);
	assert_string_equal(report.items[0].name, "dram - dynamic");
	assert_string_equal(report.items[0].status, "mape passed: true");
	assert_true(fabs(report.items[0].mse - 8.88) < 1e-9 && isinf(report.items[0].mape));
	assert_true(isnan(report.items[0].mae));
	assert_true(fabs(report.items[1].mae - 3) < 1e-9 && !report.items[1].status[0]);
	published_report_release(&report);
	assert_int_equal(read_report("{\"build_info\": [], \"results\": [{\"package\": {\"mae\": "
				     "\"1.17\", \"mape\": \"72972037513934192640.00\", \"mse\": "
				     "\"2.37\", \"status\": \"PASS\"}}]}",
				     &report, &diag),
			 0);
	assert_int_equal(report.count, 1);
	assert_string_equal(report.items[0].name, "package");
	assert_true(report.items[0].mape > 7e19);
	published_report_release(&report);
}

static void other_files_are_refused(void **state)
{
	struct published_report report;
	struct diag diag = { "" };

	assert_int_equal(read_report("{\"results\": []}", &report, &diag), -ENOENT);
	assert_string_equal(diag.text,
			    "report.json: contains no results with \"mse\", \"mape\" or \"mae\"");
	published_report_release(&report);
	assert_int_equal(read_report("{\"a\": {\"mse\": \"two\"}}", &report, &diag), -EPROTO);
	assert_string_equal(diag.text, "report.json:1:19: must be a number, not \"two\"");
	published_report_release(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_forms_are_read),
		cmocka_unit_test(other_files_are_refused),
	};
	return unit_run(tests);
}
