// SPDX-License-Identifier: Apache-2.0
#include "modelling/rows/paired_series.h"

#include <sys/mman.h>
#include <unistd.h>

#include "samples/extraction.h"
#include "tests/unit/unit.h"

#define LABEL(name, value) ",\"" name "\":\"" value "\""
#define RAPL               LABEL("source", "rapl-sysfs") LABEL("package", "0")
#define DYNAMIC            RAPL LABEL("mode", "dynamic")
#define IDLE               RAPL LABEL("mode", "idle")
#define WEB                LABEL("vm_name", "web") LABEL("vm_id", "17")
#define DB                 LABEL("vm_name", "db") LABEL("vm_id", "18")
#define NODE_JOULES        "kepler_node_package_joules_total"
#define VM_JOULES          "kepler_vm_package_joules_total"

/* Collected series of the host; each has a value at 100, 103 and 106 s. */
static struct strbuf host;

static void add_to(struct strbuf *out, const char *name, const char *labels, const double *values)
{
	strbuf_addf(out,
		    "%s{\"metric\":{\"__name__\":\"%s\"%s},\"values\":[[100,\"%g\"],[103,\"%g\"],"
		    "[106,\"%g\"]]}",
		    out->len ? "," : "[", name, labels, values[0], values[1], values[2]);
}

static void add(const char *name, const char *labels, double first, double second, double third)
{
	add_to(&host, name, labels, (const double[]){ first, second, third });
}

/* The guest believes in 999 W of its own, which is an estimate. */
static void add_guest(struct strbuf *out)
{
	add_to(out, "kepler_container_bpf_cpu_time_ms_total",
	       LABEL("instance", "guest") LABEL("container_id", "a"),
	       (const double[]){ 0, 3000, 9000 });
	add_to(out, NODE_JOULES, DYNAMIC LABEL("instance", "guest"),
	       (const double[]){ 0, 2997, 5994 });
	strbuf_add_char(out, ']');
}

/* A file with @text; its name is in @ret. */
static int file_of(const char *text, char ret[static 32])
{
	int fd = memfd_create("series", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)snprintf(ret, 32, "/proc/self/fd/%d", fd);
	return fd;
}

/* Ends the series of the host, and uses them up. */
static int extract(const char *vm, struct extraction *ret, struct diag *diag)
{
	const struct extract_options options = { .sources = { "rapl-sysfs" },
						 .source_count = 1,
						 .level = METRIC_CONTAINER,
						 .node = "" };
	CLEANUP(strbuf_release) struct strbuf guest = STRBUF_INIT;
	char of_guest[32], of_host[32];
	CLEANUP(paired_series_release)
	struct paired_series series = { of_guest, of_host, vm, .others = STRBUF_INIT };
	int r, guest_fd, host_fd;

	add_guest(&guest);
	strbuf_add_char(&host, ']');
	guest_fd = file_of(guest.data, of_guest);
	host_fd = file_of(host.data, of_host);
	r = extraction_run(&options, paired_series_read, &series, ret, diag);
	if (r == 0)
		r = paired_series_check(&series, diag);
	(void)close(guest_fd);
	(void)close(host_fd);
	strbuf_release(&host);
	return r;
}

static double cell(const struct extraction *extraction, const char *name, size_t row)
{
	size_t column = sample_table_find(&extraction->table, name);

	assert_int_not_equal(column, SAMPLE_COLUMN_NONE);
	return extraction->table.columns[column][row];
}

/* 20 W at 1,000 ms per second, then 50 W at 2,000. */
static void check_rows(const char *vm)
{
	CLEANUP(extraction_release) struct extraction rows = { .step_us = 0 };
	struct diag diag = { "" };

	if (extract(vm, &rows, &diag) < 0)
		fail_msg("%s", diag.text);
	assert_int_equal(rows.table.rows, 2);
	assert_true(fabs(cell(&rows, "package_power", 0) - 20) < 1e-9);
	assert_true(fabs(cell(&rows, "package_power", 1) - 50) < 1e-9);
	assert_true(fabs(cell(&rows, "bpf_cpu_time_ms", 0) - 1000) < 1e-9);
	assert_true(fabs(cell(&rows, "bpf_cpu_time_ms", 1) - 2000) < 1e-9);
}

static void test_activity_of_the_guest_and_power_of_the_host(void **state)
{
	static const char *const names[] = { "web", "17" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		add(VM_JOULES, DYNAMIC WEB LABEL("instance", "host"), 10, 70, 220);
		add(VM_JOULES, IDLE WEB LABEL("instance", "host"), 0, 90, 180);
		add(VM_JOULES, DYNAMIC DB LABEL("instance", "host"), 0, 1, 2);
		add("kepler_vm_retired_joules_total", DYNAMIC WEB, 0, 9, 18);
		add("kepler_vm_joules_total", DYNAMIC WEB, 0, 9, 18);
		add("kepler_container_bpf_cpu_time_ms_total", "", 0, 1, 2);
		add(NODE_JOULES, DYNAMIC LABEL("instance", "host"), 0, 70, 230);
		check_rows(names[i]);
	}
}

static void test_current_names(void **state)
{
	add("kepler_vm_cpu_joules_total", WEB LABEL("zone", "package") LABEL("state", "running"),
	    10, 70, 220);
	add("kepler_node_cpu_active_joules_total", LABEL("zone", "package"), 0, 65, 220);
	add("kepler_node_cpu_joules_total", LABEL("zone", "package"), 0, 900, 1800);
	check_rows("web");
}

/* The model would be of a host with more load than its rows show. */
static void test_neighbours(void **state)
{
	CLEANUP(extraction_release) struct extraction rows = { .step_us = 0 };
	struct diag diag = { "" };

	add(VM_JOULES, DYNAMIC WEB, 0, 60, 210);
	add(NODE_JOULES, DYNAMIC, 300, 400, 140); /* it restarted: 240 J */
	assert_int_equal(extract("web", &rows, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "only 88 % of its host's dynamic energy"));
}

static void test_another_name(void **state)
{
	CLEANUP(extraction_release) struct extraction rows = { .step_us = 0 };
	struct diag diag = { "" };

	add(VM_JOULES, DYNAMIC WEB, 0, 60, 210);
	add(VM_JOULES, DYNAMIC DB, 0, 60, 210);
	assert_int_equal(extract("mail", &rows, &diag), -ENODATA);
	assert_non_null(strstr(diag.text, "name or id \"mail\"; there is web, db"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_activity_of_the_guest_and_power_of_the_host),
		cmocka_unit_test(test_current_names),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_another_name),
	};

	return unit_run(tests);
}
