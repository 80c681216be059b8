// SPDX-License-Identifier: Apache-2.0
/*
 * Registers as files: what is read at the offset of a register is its value. A file that ends
 * before stands for one that fails, a socket for one whose CPU is offline.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "base/num.h"
#include "meter/meter_sources.h"
#include "meter/meter_table.h"
#include "rapl_tree.h"
#include "seen_zones.h"
#include "tests/unit/unit.h"

#define UNIT     0x606
#define PACKAGE  0x611
#define DRAM     0x619
#define CORE     0x639
#define UNCORE   0x641
#define PSYS     0x64d
#define AMD_UNIT 0xc0010299
#define AMD_CORE 0xc001029a
#define AMD_PKG  0xc001029b

static char msr_alone[] = "rapl-msr";

struct fixture {
	struct fake_tree tree;
	char devices[128];
	struct meter *meter;
	struct meter_table *table;
	struct seen_zone seen[METER_ZONES_MAX];
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){ 0 };
	tree_make(&fixture.tree);
	(void)snprintf(fixture.devices, sizeof(fixture.devices), "%s/dev/cpu", fixture.tree.sysfs);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	rapl_msr_meter.close(fixture->meter);
	meter_table_close(fixture->table);
	tree_remove(&fixture->tree);
	return 0;
}

static void put_register(const struct fixture *fixture, unsigned cpu, uint32_t msr, uint64_t value)
{
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "dev/cpu/%u/new", cpu);
	rapl_put(&fixture->tree, path, "");
	(void)snprintf(path, sizeof(path), "%s/%u/msr", fixture->devices, cpu);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &value, sizeof(value), msr), sizeof(value));
	assert_int_equal(close(fd), 0);
}

static void put_online(const struct fixture *fixture, const char *cpus)
{
	rapl_put(&fixture->tree, "devices/system/cpu/online", cpus);
}

/* Two sockets, with counters of every kind: Skylake-X. */
static void make_server(const struct fixture *fixture)
{
	put_online(fixture, "0-3\n");
	for (unsigned cpu = 0; cpu < 4; cpu++) {
		rapl_put_cpu(&fixture->tree, cpu, cpu / 2, 0);
		put_register(fixture, cpu, UNIT, 0xa0e03);
		put_register(fixture, cpu, PACKAGE, 0x4000);
		put_register(fixture, cpu, DRAM, 1000000);
		put_register(fixture, cpu, CORE, 0);
		put_register(fixture, cpu, UNCORE, 0);
		put_register(fixture, cpu, PSYS, cpu < 2 ? 0x8000 : 0);
	}
}

static struct meter_options options_of(struct fixture *fixture)
{
	return (struct meter_options){ .sysfs = fixture->tree.sysfs,
				       .read_deadline_ns = 120 * NSEC_PER_SEC,
				       .sources = msr_alone,
				       .rapl_msr.devices = fixture->devices,
				       .cpu_vendor = "GenuineIntel",
				       .cpu_family = 6,
				       .cpu_model = 0x55 };
}

static void open_meter(struct fixture *fixture, const struct meter_options *options)
{
	assert_int_equal(rapl_msr_meter.open(options, &fixture->meter), 0);
}

static void expect_zone(const struct fixture *fixture, size_t index, enum zone_kind kind,
			const char *instance, const char *path)
{
	const struct zone *zone = rapl_msr_meter.zone_at(fixture->meter, index);

	assert_int_equal(zone->kind, kind);
	assert_string_equal(zone->instance, instance);
	assert_string_equal(zone->path, path);
	assert_string_equal(zone->source, "rapl-msr");
	assert_int_equal(zone->rank, RANK_MEASURED_MSR);
}

static void expect_energy(const struct fixture *fixture, size_t index, uint64_t energy_uj,
			  uint64_t turn_uj, uint32_t generation)
{
	struct raw_reading raw;

	assert_int_equal(rapl_msr_meter.read_raw(fixture->meter, index, &raw), 0);
	assert_int_equal(raw.value, energy_uj);
	assert_int_equal(raw.range_uj, turn_uj - 1);
	assert_int_equal(raw.kind, SAMPLE_COUNTER);
	assert_int_equal(raw.generation, generation);
}

static void test_two_sockets(void **state)
{
	struct fixture *fixture = *state;
	const struct meter_options options = options_of(fixture);

	make_server(fixture);
	open_meter(fixture, &options);
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	/* Registers that are 0 count nothing. */
	assert_int_equal(rapl_msr_meter.zone_count(fixture->meter), 5);
	expect_zone(fixture, 0, ZONE_PACKAGE, "0", "msr/0x611@0");
	expect_zone(fixture, 1, ZONE_DRAM, "0", "msr/0x619@0");
	expect_zone(fixture, 2, ZONE_PSYS, "0", "msr/0x64d@0");
	expect_zone(fixture, 3, ZONE_PACKAGE, "1", "msr/0x611@1");
	expect_zone(fixture, 4, ZONE_DRAM, "1", "msr/0x619@1");
	expect_energy(fixture, 0, UJ_PER_J, 262144 * UJ_PER_J, 1);
	expect_energy(fixture, 1, 15299999, 65712999628, 1);
	expect_energy(fixture, 2, 2 * UJ_PER_J, 262144 * UJ_PER_J, 1);
	put_register(fixture, 2, PACKAGE, 0xc000);
	expect_energy(fixture, 3, 3 * UJ_PER_J, 262144 * UJ_PER_J, 1);
}

static void test_wrap(void **state)
{
	struct fixture *fixture = *state;
	const struct meter_options options = options_of(fixture);

	put_online(fixture, "0\n");
	rapl_put_cpu(&fixture->tree, 0, 0, 0);
	put_register(fixture, 0, UNIT, 0xa0e03);
	put_register(fixture, 0, PACKAGE, 0xffffc000);
	assert_int_equal(meter_table_open_source(&rapl_msr_meter, &options, &fixture->table), 0);
	assert_int_equal(meter_table_count(fixture->table), 1);
	assert_int_equal(see_zones(fixture->table, fixture->seen), 1);
	put_register(fixture, 0, PACKAGE, 0x8000);
	assert_int_equal(see_zones(fixture->table, fixture->seen), 1);
	assert_int_equal(fixture->seen[0].energy_uj, 3 * UJ_PER_J);
	assert_int_equal(fixture->seen[0].wraps, 1);
}

static void test_dies(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = options_of(fixture);

	make_server(fixture);
	for (unsigned cpu = 0; cpu < 4; cpu++)
		rapl_put_cpu(&fixture->tree, cpu, cpu / 2, cpu % 2);
	open_meter(fixture, &options);
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	assert_int_equal(rapl_msr_meter.zone_count(fixture->meter), 4 * 2 + 1);
	expect_zone(fixture, 3, ZONE_PACKAGE, "0-die-1", "msr/0x611@0-die-1");
}

/* AMD's package is one, whatever dies it has; energy of cores is not read unless that is asked. */
static void test_amd(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = options_of(fixture);

	options.cpu_vendor = "AuthenticAMD";
	options.cpu_family = 0x19;
	options.cpu_model = 1;
	put_online(fixture, "0-1\n");
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		rapl_put_cpu(&fixture->tree, cpu, 0, cpu);
		put_register(fixture, cpu, AMD_UNIT, 0xa1003);
		put_register(fixture, cpu, AMD_PKG, 0x20000);
	}
	open_meter(fixture, &options);
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	assert_int_equal(rapl_msr_meter.zone_count(fixture->meter), 1);
	expect_zone(fixture, 0, ZONE_PACKAGE, "0", "msr/0xc001029b@0");
	expect_energy(fixture, 0, 2 * UJ_PER_J, 65536 * UJ_PER_J, 1);
}

/*
 * Registers of a file are as far apart as their numbers, so the bytes of these lie over each other:
 * the lowest of a core's counter is the unit's exponent, the others are the package's.
 */
static void put_counts(const struct fixture *fixture, unsigned cpu, uint32_t counts)
{
	put_register(fixture, cpu, AMD_CORE, counts | 0x10);
}

static void put_core(const struct fixture *fixture, unsigned cpu, unsigned package,
		     const char *siblings, uint32_t counts)
{
	char name[96];

	rapl_put_cpu(&fixture->tree, cpu, package, 0);
	(void)snprintf(name, sizeof(name), "devices/system/cpu/cpu%u/topology/thread_siblings_list",
		       cpu);
	rapl_put(&fixture->tree, name, siblings);
	put_register(fixture, cpu, AMD_PKG, 0x20000);
	put_register(fixture, cpu, AMD_UNIT, 0xa1003);
	put_counts(fixture, cpu, counts);
}

/* Two sockets of two cores; cores of the first have two CPUs each, which show the same. */
static void make_cores(const struct fixture *fixture)
{
	put_online(fixture, "0-5\n");
	put_core(fixture, 0, 0, "0,2\n", 0xffff0000);
	put_core(fixture, 1, 0, "1,3\n", 0x10000);
	put_core(fixture, 2, 0, "0,2\n", 0xffff0000);
	put_core(fixture, 3, 0, "1,3\n", 0x10000);
	put_core(fixture, 4, 1, "4\n", 0x30000);
	put_core(fixture, 5, 1, "5\n", 0x40000);
}

static void open_amd(struct fixture *fixture, bool cores)
{
	struct meter_options options = options_of(fixture);

	options.cpu_vendor = "AuthenticAMD";
	options.cpu_family = 0x19;
	options.cpu_model = 1;
	options.rapl_msr.cores = cores;
	open_meter(fixture, &options);
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
}

static struct raw_reading read_zone(const struct fixture *fixture, size_t index)
{
	struct raw_reading raw;

	assert_int_equal(rapl_msr_meter.read_raw(fixture->meter, index, &raw), 0);
	return raw;
}

/* Each is read once, and one that starts again is corrected by itself. */
static void test_cores_of_amd_are_summed(void **state)
{
	struct fixture *fixture = *state;
	struct raw_reading raw;

	make_cores(fixture);
	open_amd(fixture, true);
	assert_int_equal(rapl_msr_meter.zone_count(fixture->meter), 4);
	expect_zone(fixture, 2, ZONE_CORE, "0", "msr/0xc001029a@0");
	expect_zone(fixture, 3, ZONE_CORE, "1", "msr/0xc001029a@1");
	raw = read_zone(fixture, 2);
	assert_int_equal(raw.value, 0);
	assert_int_equal(raw.kind, SAMPLE_TOTAL);
	assert_int_equal(raw.generation, 1);
	assert_int_equal(raw.unread_max_uj, 65536 * UJ_PER_J);
	put_counts(fixture, 0, 0x30000); /* 4 J on, by way of 0 */
	put_counts(fixture, 1, 0x18000); /* 0.5 J */
	put_counts(fixture, 2, 0x99990000);
	assert_int_equal(read_zone(fixture, 2).value, 9 * UJ_PER_J / 2);
	(void)read_zone(fixture, 3);
	put_counts(fixture, 5, 0x50000);
	assert_int_equal(read_zone(fixture, 3).value, UJ_PER_J);
	put_counts(fixture, 1, 0x28000);
	assert_int_equal(read_zone(fixture, 2).value, 11 * UJ_PER_J / 2);
}

static void test_cores_are_not_read_unasked(void **state)
{
	struct fixture *fixture = *state;

	make_cores(fixture);
	open_amd(fixture, false);
	assert_int_equal(rapl_msr_meter.zone_count(fixture->meter), 2);
}

/* The sum of other cores is another counter; the sum of the same ones goes on. */
static void test_a_core_goes_and_comes_back(void **state)
{
	struct fixture *fixture = *state;

	make_cores(fixture);
	open_amd(fixture, true);
	(void)read_zone(fixture, 2);
	put_counts(fixture, 1, 0x20000);
	assert_int_equal(read_zone(fixture, 2).value, UJ_PER_J);
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	assert_int_equal(read_zone(fixture, 2).generation, 1);
	put_online(fixture, "0,2,4-5\n"); /* core 1 is off */
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	assert_int_equal(read_zone(fixture, 2).generation, 2);
	put_counts(fixture, 0, 0); /* 1 J on */
	assert_int_equal(read_zone(fixture, 2).value, 2 * UJ_PER_J);
	put_online(fixture, "0-5\n");
	put_counts(fixture, 1, 0); /* it was reset */
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	assert_int_equal(read_zone(fixture, 2).generation, 3);
	put_counts(fixture, 1, 0x10000);
	assert_int_equal(read_zone(fixture, 2).value, 3 * UJ_PER_J);
	assert_int_equal(read_zone(fixture, 3).generation, 1);
}

/* Where the CPU that is read goes, its sibling is read instead. */
static void test_another_cpu_of_the_core_is_read(void **state)
{
	struct fixture *fixture = *state;

	make_cores(fixture);
	open_amd(fixture, true);
	(void)read_zone(fixture, 2);
	put_online(fixture, "1-5\n");
	put_core(fixture, 2, 0, "2\n", 0xffff0000);
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	assert_int_equal(read_zone(fixture, 2).generation, 2);
	put_counts(fixture, 2, 0);
	put_counts(fixture, 0, 0x77770000);
	assert_int_equal(read_zone(fixture, 2).value, UJ_PER_J);
}

static const char *remark(const struct fixture *fixture, bool is_failure)
{
	static struct meter_remark remark;

	if (!rapl_msr_meter.remark(fixture->meter, 0, &remark))
		return "";
	assert_int_equal(remark.is_failure, is_failure);
	return remark.what;
}

static void test_what_cannot_be_read(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = options_of(fixture);

	make_server(fixture);
	tree_drop(&fixture->tree, "../../dev/cpu");
	open_meter(fixture, &options);
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	assert_non_null(strstr(remark(fixture, true), "modprobe msr"));
	rapl_put(&fixture->tree, "dev/cpu/0/msr", "too short");
	rapl_put(&fixture->tree, "dev/cpu/2/msr", "too short");
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), -EIO);
	assert_non_null(strstr(remark(fixture, true), "Input/output error"));
	assert_int_equal(rapl_msr_meter.zone_count(fixture->meter), 0);
	make_server(fixture);
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	assert_string_equal(remark(fixture, true), "");
	assert_int_equal(rapl_msr_meter.zone_count(fixture->meter), 5);
}

static void test_a_processor_that_is_not_known(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = options_of(fixture);

	make_server(fixture);
	options.cpu_model = 0xad;
	open_meter(fixture, &options);
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	assert_int_equal(rapl_msr_meter.zone_count(fixture->meter), 0);
	assert_non_null(strstr(remark(fixture, true), "GenuineIntel, family 6, model 173"));
}

/* Intel's mitigation: capability bit 11, and the control's bit 0. */
static void test_filtered_energy_is_said(void **state)
{
	static const struct {
		uint64_t capabilities, control;
		bool is_filtered;
	} table[] = { { 1 << 10, 1, false }, { 1 << 11, 0, false }, { 1 << 11, 1, true } };
	struct fixture *fixture = *state;
	const struct meter_options options = options_of(fixture);
	struct raw_reading raw;

	make_server(fixture);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		put_register(fixture, 2, 0x10a, table[i].capabilities);
		put_register(fixture, 2, 0xbc, table[i].control);
		open_meter(fixture, &options);
		assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
		assert_int_equal(strstr(remark(fixture, false), "ENERGY_FILTERING") != NULL,
				 table[i].is_filtered);
		assert_int_equal(rapl_msr_meter.read_raw(fixture->meter, 0, &raw), 0);
		assert_int_equal(raw.caveat, table[i].is_filtered ? CAVEAT_FILTERED : CAVEAT_NONE);
		rapl_msr_meter.close(TAKE_PTR(fixture->meter));
	}
}

/*
 * The device of a CPU that goes offline answers ENXIO, as does a socket that is opened. Another CPU
 * of the package is read then.
 */
static void test_the_cpu_that_is_read_goes(void **state)
{
	struct fixture *fixture = *state;
	const struct meter_options options = options_of(fixture);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	make_server(fixture);
	tree_drop(&fixture->tree, "../../dev/cpu/2/msr");
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/2/msr", fixture->devices);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	open_meter(fixture, &options);
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	assert_string_equal(remark(fixture, true), "");
	assert_int_equal(rapl_msr_meter.zone_count(fixture->meter), 3);
	put_online(fixture, "0-1,3\n");
	assert_int_equal(rapl_msr_meter.rescan(fixture->meter), 0);
	assert_int_equal(rapl_msr_meter.zone_count(fixture->meter), 5);
	expect_energy(fixture, 3, UJ_PER_J, 262144 * UJ_PER_J, 1);
	assert_int_equal(close(fd), 0);
}

static void test_by_request_alone(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = options_of(fixture);

	make_server(fixture);
	assert_true(meter_is_chosen(&rapl_msr_meter, &options));
	options.sources = (char[]){ "auto" };
	assert_false(meter_is_chosen(&rapl_msr_meter, &options));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TREE_TEST(test_two_sockets),
		TREE_TEST(test_wrap),
		TREE_TEST(test_dies),
		TREE_TEST(test_amd),
		TREE_TEST(test_cores_of_amd_are_summed),
		TREE_TEST(test_cores_are_not_read_unasked),
		TREE_TEST(test_a_core_goes_and_comes_back),
		TREE_TEST(test_another_cpu_of_the_core_is_read),
		TREE_TEST(test_what_cannot_be_read),
		TREE_TEST(test_a_processor_that_is_not_known),
		TREE_TEST(test_filtered_energy_is_said),
		TREE_TEST(test_the_cpu_that_is_read_goes),
		TREE_TEST(test_by_request_alone),
	};

	return unit_run(tests);
}
