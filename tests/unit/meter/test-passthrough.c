// SPDX-License-Identifier: Apache-2.0
/* The host's account of this machine, through a pipe in place of a port, a vsock, and files. */
#include "meter/passthrough/passthrough.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "meter/passthrough/passthrough_channel.h"
#include "meter/passthrough/passthrough_counts.h"
#include "meter_fixture.h"
#include "passthrough/passthrough_text.h"
#include "tests/unit/unit.h"

static const struct passthrough_record usual = {
	.epoch = 5,
	.sequence = 1,
	.boottime_ns = 1000 * NSEC_PER_SEC,
	.interval_ns = NSEC_PER_SEC,
	.flags = PASSTHROUGH_IDLE,
	.period_ms = 1000,
	.zone_count = 2,
	.zones = { { ZONE_PACKAGE, QUALITY_MEASURED, 1000, 100, 10 },
		   { ZONE_PLATFORM, QUALITY_ESTIMATED, 1000, 200, 20 } },
};

/* Writes SYSFS/@folder/@name and makes its folders. */
static void tree_put(const struct fake_tree *tree, const char *folder, const char *name,
		     const char *text)
{
	char path[320];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", tree->sysfs, folder);
	for (char *slash = path + strlen(tree->sysfs) + 1; slash; slash = strchr(slash + 1, '/')) {
		char kept = *slash;

		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = kept;
	}
	(void)mkdir(path, 0700);
	(void)snprintf(path, sizeof(path), "%s/%s/%s", tree->sysfs, folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

/* A later record with so much more energy in each mode of each zone. */
static struct passthrough_record later(uint64_t sequence, uint64_t more_uj)
{
	struct passthrough_record record = usual;

	record.sequence = sequence;
	record.boottime_ns += sequence * NSEC_PER_SEC;
	for (size_t i = 0; i < record.zone_count; i++) {
		record.zones[i].dynamic_uj += more_uj;
		record.zones[i].idle_uj += more_uj;
	}
	return record;
}

static void send_record(int fd, struct passthrough_record record)
{
	uint8_t bytes[PASSTHROUGH_RECORD_MAX];
	size_t len = passthrough_record_write(&record, bytes);

	assert_int_equal(write(fd, bytes, len), len);
}

static void put_text(const char *path, struct passthrough_record record)
{
	struct strbuf text = STRBUF_INIT;
	int fd;

	passthrough_text_write(&record, &text);
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text.data, text.len), text.len);
	(void)close(fd);
	strbuf_release(&text);
}

/* Opens the meter on @place without a search. */
static void open_on(struct fixture *fixture, char *place)
{
	struct meter_options options = { .sysfs = fixture->tree.sysfs, .passthrough.from = place };

	assert_true(passthrough_meter.is_wanted(&options));
	fixture->ops = &passthrough_meter;
	assert_int_equal(passthrough_meter.open(&options, &fixture->meter), 0);
}

static void check_reading(const struct fixture *fixture, size_t index, uint64_t value_uj,
			  uint64_t idle_uj)
{
	struct raw_reading raw = { 0 };

	assert_int_equal(passthrough_meter.read_raw(fixture->meter, index, &raw), 0);
	assert_int_equal(raw.kind, SAMPLE_TOTAL);
	assert_int_equal(raw.value, value_uj);
	assert_int_equal(raw.idle_uj, idle_uj);
	assert_true(raw.is_plausible);
	assert_true(raw.to_ns > 0);
}

static void check_remark(const struct fixture *fixture, const char *part)
{
	struct meter_remark remark;

	assert_true(passthrough_meter.remark(fixture->meter, 0, &remark));
	if (!strstr(remark.what, part))
		fail_msg("\"%s\" lacks \"%s\"", remark.what, part);
	assert_true(remark.is_failure);
	assert_false(passthrough_meter.remark(fixture->meter, 1, &remark));
}

static void records_become_zones(void **state)
{
	struct fixture *fixture = *state;
	struct passthrough_counts counts;
	struct meter_remark unused;
	struct raw_reading raw;
	const struct zone *zone;
	char path[320];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/port", fixture->tree.sysfs);
	assert_int_equal(mkfifo(path, 0600), 0);
	open_on(fixture, path);
	passthrough_meter_counts(fixture->meter, &counts);
	assert_int_equal(counts.received_ns, 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	send_record(fd, usual);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), 0);
	assert_int_equal(passthrough_meter.zone_count(fixture->meter), 2);
	assert_false(passthrough_meter.remark(fixture->meter, 0, &unused));
	zone = passthrough_meter.zone_at(fixture->meter, 0);
	assert_int_equal(zone->kind, ZONE_PACKAGE);
	assert_int_equal(zone->quality, QUALITY_MEASURED);
	assert_string_equal(zone->source, "passthrough");
	assert_int_equal(zone->rank, RANK_SHARE);
	assert_int_equal(zone->scope, SCOPE_NODE);
	assert_true(zone->knows_idle);
	zone = passthrough_meter.zone_at(fixture->meter, 1);
	assert_int_equal(zone->kind, ZONE_PLATFORM);
	assert_int_equal(zone->quality, QUALITY_ESTIMATED);

	check_reading(fixture, 0, 110, 10);
	check_reading(fixture, 1, 220, 20);
	assert_int_equal(passthrough_meter.read_raw(fixture->meter, 1, &raw), -EAGAIN);
	assert_int_equal(passthrough_meter.read_raw(fixture->meter, 0, &raw), -EAGAIN);
	/* Several records at once, with a torn one and a repeated one between them. */
	send_record(fd, later(2, 1));
	assert_int_equal(write(fd, "KEP\xEB\x01", 5), 5);
	send_record(fd, later(4, 7));
	send_record(fd, later(3, 2));
	check_reading(fixture, 0, 124, 17);
	check_reading(fixture, 1, 234, 27);
	passthrough_meter_counts(fixture->meter, &counts);
	assert_int_equal(counts.outcomes[PASSTHROUGH_COUNTED], 3);
	assert_int_equal(counts.outcomes[PASSTHROUGH_REPEATED], 1);
	assert_int_equal(counts.lost, 1);
	assert_int_equal(counts.epochs, 1);
	assert_int_equal(counts.skipped_bytes, 5);
	assert_true(counts.received_ns > 0);
	(void)close(fd);
}

/* The host's counters may be filtered, and a machine that is protected trusts none of them. */
static void readings_have_a_caveat(void **state)
{
	static const struct {
		uint32_t flags;
		bool is_distrusted;
		enum zone_caveat caveat;
	} table[] = {
		{ PASSTHROUGH_IDLE | PASSTHROUGH_RESERVED, false, CAVEAT_NONE },
		{ PASSTHROUGH_IDLE | PASSTHROUGH_FILTERED, false, CAVEAT_FILTERED },
		{ PASSTHROUGH_IDLE, true, CAVEAT_CLAIMED },
		{ PASSTHROUGH_IDLE | PASSTHROUGH_FILTERED, true, CAVEAT_CLAIMED },
	};
	struct fixture *fixture = *state;
	char path[320];

	(void)snprintf(path, sizeof(path), "%s/energy", fixture->tree.sysfs);
	fixture->ops = &passthrough_meter;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct meter_options options = { .sysfs = fixture->tree.sysfs,
						 .passthrough.from = path,
						 .host_is_distrusted = table[i].is_distrusted };
		struct passthrough_record record = usual;
		struct raw_reading raw;

		record.flags = table[i].flags;
		put_text(path, record);
		assert_int_equal(passthrough_meter.open(&options, &fixture->meter), 0);
		assert_int_equal(passthrough_meter.rescan(fixture->meter), 0);
		assert_int_equal(passthrough_meter.read_raw(fixture->meter, 0, &raw), 0);
		assert_int_equal(raw.caveat, table[i].caveat);
		passthrough_meter.close(TAKE_PTR(fixture->meter));
	}
}

static void energy_without_idle_has_another_scope(void **state)
{
	struct fixture *fixture = *state;
	struct passthrough_record record = later(1, 0);
	const struct zone *zone;
	char path[320];

	(void)snprintf(path, sizeof(path), "%s/energy", fixture->tree.sysfs);
	record.flags = 0;
	record.zones[0].idle_uj = record.zones[1].idle_uj = 0;
	put_text(path, record);
	open_on(fixture, path);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), 0);
	zone = passthrough_meter.zone_at(fixture->meter, 0);
	assert_int_equal(zone->scope, SCOPE_VM_DYNAMIC);
	assert_false(zone->knows_idle);
	check_reading(fixture, 0, 100, 0);
}

/* The host's record with @uj in each of its zones, when all CPUs were busy for @busy_s. */
static int read_record_after_work(struct fixture *fixture, const char *path,
				  struct passthrough_record record, uint64_t uj, unsigned busy_s)
{
	struct raw_reading unused;
	char stat[64];

	(void)snprintf(stat, sizeof(stat), "cpu  %ld 0 0 0 0 0 0\n", busy_s * sysconf(_SC_CLK_TCK));
	tree_put(&fixture->tree, "proc", "stat", stat);
	record.flags = 0;
	for (size_t i = 0; i < record.zone_count; i++) {
		record.zones[i].dynamic_uj = uj;
		record.zones[i].idle_uj = 0;
	}
	put_text(path, record);
	return passthrough_meter.read_raw(fixture->meter, 0, &unused);
}

static int read_after_work(struct fixture *fixture, const char *path, uint64_t sequence,
			   uint64_t uj, unsigned busy_s)
{
	return read_record_after_work(fixture, path, later(sequence, 0), uj, busy_s);
}

/* Whose first record, in the file @path, has no zones. */
static void open_file_of_host(struct fixture *fixture, char path[static 320])
{
	char procfs[320];
	struct meter_options options = { .sysfs = fixture->tree.sysfs,
					 .procfs = procfs,
					 .passthrough.from = path };
	struct passthrough_record record = later(1, 0);

	(void)snprintf(path, 320, "%s/energy", fixture->tree.sysfs);
	(void)snprintf(procfs, sizeof(procfs), "%s/proc", fixture->tree.sysfs);
	record.flags = 0;
	memset(record.zones, 0, sizeof(record.zones));
	record.zone_count = 0;
	put_text(path, record);
	fixture->ops = &passthrough_meter;
	assert_int_equal(passthrough_meter.open(&options, &fixture->meter), 0);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), -EAGAIN);
}

static void an_account_without_energy_is_not_used(void **state)
{
	struct fixture *fixture = *state;
	char path[320];

	open_file_of_host(fixture, path);
	assert_int_equal(read_after_work(fixture, path, 2, 0, 100), 0);
	assert_int_equal(read_after_work(fixture, path, 3, 0, 129), 0);
	assert_int_equal(read_after_work(fixture, path, 4, 0, 130), -ENODATA);
	check_remark(fixture, "the host reports 0 J all the time");
	assert_int_equal(read_after_work(fixture, path, 5, 7, 200), 0);
	assert_int_equal(read_after_work(fixture, path, 6, 7, 300), 0);
}

/* A host that passes on the energy of a board alone. */
static void a_board_may_be_idle_while_cpus_work(void **state)
{
	struct fixture *fixture = *state;
	struct passthrough_record record;
	char path[320];

	open_file_of_host(fixture, path);
	for (unsigned i = 0; i < 4; i++) {
		record = later(2 + i, 0);
		record.zone_count = 1;
		record.zones[0].kind = ZONE_GPU;
		memset(&record.zones[1], 0, sizeof(record.zones[1]));
		assert_int_equal(read_record_after_work(fixture, path, record, 0, 100 * i), 0);
	}
}

static void files_are_read_when_they_are_replaced(void **state)
{
	struct fixture *fixture = *state;
	struct passthrough_counts counts;
	struct raw_reading raw;
	char path[320];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/energy", fixture->tree.sysfs);
	open_on(fixture, fixture->tree.sysfs);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), -EAGAIN);
	check_remark(fixture, "No such file");
	put_text(path, usual);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), 0);
	check_reading(fixture, 0, 110, 10);
	put_text(path, later(2, 3));
	check_reading(fixture, 0, 116, 13);
	check_reading(fixture, 1, 226, 23);
	/* A file that is cut short changes nothing. */
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(passthrough_meter.read_raw(fixture->meter, 0, &raw), -EAGAIN);
	check_remark(fixture, "its last line");
	passthrough_meter_counts(fixture->meter, &counts);
	assert_int_equal(counts.refused_texts, 1);
	put_text(path, later(3, 4));
	check_reading(fixture, 0, 118, 14);
	/* A folder where the file should be. */
	(void)unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(passthrough_meter.read_raw(fixture->meter, 0, &raw), -EAGAIN);
	assert_int_equal(rmdir(path), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(ftruncate(fd, 10L << 20), 0);
	(void)close(fd);
	assert_int_equal(passthrough_meter.read_raw(fixture->meter, 0, &raw), -EAGAIN);
}

static void another_machines_records_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct passthrough_record record = usual;
	char path[320];

	tree_put(&fixture->tree, "class/dmi/id", "product_uuid",
		 "C7A5FDBD-EDAF-9455-926A-D65C16DB1809\n");
	(void)snprintf(path, sizeof(path), "%s/energy", fixture->tree.sysfs);
	record.vm_hash = passthrough_vm_hash("c7a5fdbd-edaf-9455-926a-d65c16db1808");
	put_text(path, record);
	open_on(fixture, path);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), -EAGAIN);
	check_remark(fixture, "another virtual machine");
	record.vm_hash = passthrough_vm_hash("c7a5fdbd-edaf-9455-926a-d65c16db1809");
	put_text(path, record);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), 0);
	check_reading(fixture, 0, 110, 10);
}

static void the_port_is_found_by_its_name(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = { .sysfs = fixture->tree.sysfs };
	struct passthrough_places places;

	tree_put(&fixture->tree, "class/virtio-ports/vport1p1", "name", "org.qemu.guest_agent.0\n");
	passthrough_search(NULL, fixture->tree.sysfs, &places);
	assert_string_equal(places.port, "");
	assert_string_equal(passthrough_best_place(&places), "");
	assert_false(passthrough_meter.is_wanted(&options));
	tree_put(&fixture->tree, "class/virtio-ports/vport0p1", "name", "org.github.vhostmd.1\n");
	passthrough_search(NULL, fixture->tree.sysfs, &places);
	assert_string_equal(places.vhostmd, "/dev/vport0p1");
	assert_string_equal(places.port, "");
	assert_string_equal(passthrough_best_place(&places), "/dev/vport0p1");
	assert_true(passthrough_meter.is_wanted(&options));
	tree_put(&fixture->tree, "class/virtio-ports/vport1p2", "name", "io.kepler.energy.0\n");
	passthrough_search(NULL, fixture->tree.sysfs, &places);
	assert_string_equal(places.port, "/dev/vport1p2");
	assert_string_equal(passthrough_best_place(&places), "/dev/vport1p2");
	assert_true(passthrough_meter.is_wanted(&options));
	options.passthrough.from = (char[]){ "off" };
	assert_false(passthrough_meter.is_wanted(&options));
}

static const char *find_folder(const struct fixture *fixture, const char *mounts)
{
	static struct passthrough_places places;

	tree_put(&fixture->tree, "self", "mounts", mounts);
	passthrough_search(fixture->tree.sysfs, NULL, &places);
	return places.folder;
}

static void a_mounted_folder_is_found_by_its_tag(void **state)
{
	const struct fixture *fixture = *state;

	assert_string_equal(find_folder(fixture, "kepler /mnt ext4 rw 0 0\n"), "");
	assert_string_equal(find_folder(fixture, "keplers /mnt 9p rw 0 0\n"), "");
	assert_string_equal(find_folder(fixture, "kepler\n\nkepler /a\\040b 9p rw 0 0"), "");
	assert_string_equal(find_folder(fixture, "sysfs /sys sysfs rw 0 0\n"
						 "kepler-100 /mnt virtiofs ro 0 0\n"),
			    "/mnt");
	assert_string_equal(find_folder(fixture, "host /var/lib/kepler/host 9p ro 0 0\n"),
			    PASSTHROUGH_FOLDER);
}

static void a_vsock_device_is_found(void **state)
{
	struct fixture *fixture = *state;
	struct passthrough_places places;

	tree_put(&fixture->tree, "bus/virtio/devices/virtio0", "device", "0x0003\n");
	passthrough_search(NULL, fixture->tree.sysfs, &places);
	assert_false(places.has_vsock);
	tree_put(&fixture->tree, "bus/virtio/devices/virtio1", "device", "0x0013\n");
	passthrough_search(NULL, fixture->tree.sysfs, &places);
	assert_true(places.has_vsock);
}

/* A folder in place of the mounted one. */
/* A folder with Kepler's record may have such a tree as well. */
static void scaphandres_tree_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct passthrough_places places;
	char path[320];

	assert_string_equal(find_folder(fixture, "scaphandre /mnt 9p ro 0 0\n"
						 "kepler /srv 9p ro 0 0\n"),
			    "/srv");
	passthrough_search(fixture->tree.sysfs, NULL, &places);
	assert_string_equal(places.scaphandre, "/mnt");
	assert_string_equal(find_folder(fixture, "host /var/scaphandre virtiofs ro 0 0\n"), "");
	passthrough_search(fixture->tree.sysfs, NULL, &places);
	assert_string_equal(places.scaphandre, PASSTHROUGH_SCAPHANDRE);

	tree_put(&fixture->tree, "intel-rapl:0", "energy_uj", "123456789");
	open_on(fixture, fixture->tree.sysfs);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), -EAGAIN);
	check_remark(fixture, "is of Scaphandre and is not read: Scaphandre's exporter adds "
			      "microwatts as microjoules");
	assert_int_equal(passthrough_meter.zone_count(fixture->meter), 0);
	(void)snprintf(path, sizeof(path), "%s/energy", fixture->tree.sysfs);
	put_text(path, usual);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), 0);
	check_reading(fixture, 0, 110, 10);
}

static void the_mounted_folder_is_read(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = { .procfs = fixture->tree.sysfs,
					 .sysfs = fixture->tree.sysfs };
	char path[320], mounts[400];

	assert_false(passthrough_meter.is_wanted(&options));
	(void)snprintf(mounts, sizeof(mounts), "kepler %s virtiofs rw 0 0\n", fixture->tree.sysfs);
	(void)find_folder(fixture, mounts);
	(void)snprintf(path, sizeof(path), "%s/energy", fixture->tree.sysfs);
	put_text(path, usual);
	assert_true(passthrough_meter.is_wanted(&options));
	fixture->ops = &passthrough_meter;
	assert_int_equal(passthrough_meter.open(&options, &fixture->meter), 0);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), 0);
	check_reading(fixture, 0, 110, 10);
}

/* The host chooses what the name leads to: a file of this machine, or a device. */
static void only_a_file_is_opened_in_the_hosts_folder(void **state)
{
	struct fixture *fixture = *state;
	char path[320], elsewhere[320];

	(void)snprintf(path, sizeof(path), "%s/energy", fixture->tree.sysfs);
	(void)snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", fixture->tree.sysfs);
	put_text(elsewhere, usual);
	assert_int_equal(symlink(elsewhere, path), 0);
	open_on(fixture, fixture->tree.sysfs);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), -EAGAIN);
	check_remark(fixture, "is not a regular file");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), -EAGAIN);
	check_remark(fixture, "is not a regular file");
	put_text(path, usual);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), 0);
	check_reading(fixture, 0, 110, 10);
}

/* A terminal stands for the port. The host answers late, and with neither CPU time nor an epoch. */
static void the_port_of_vhostmd_is_asked(void **state)
{
	static const char answer[] =
		"<metrics><metric context='vm' unit='J'><name>"
		"EnergyConsumedPackage</name><value>%u</value></metric>"
		"<metric context='vm' unit='J'><name>EnergyEstimatedDram</name>"
		"<value>5</value></metric></metrics>\n\n";
	struct fixture *fixture = *state;
	struct passthrough_counts counts;
	struct meter_remark unused;
	struct raw_reading raw;
	char place[80] = "vhostmd:";
	struct termios raw_mode;
	int host, guest;

	cfmakeraw(memset(&raw_mode, 0, sizeof(raw_mode)));
	assert_int_equal(openpty(&host, &guest, place + strlen(place), &raw_mode, NULL), 0);
	open_on(fixture, place);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), -EAGAIN);
	assert_true(dprintf(host, answer, 7U) > 0);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), 0);
	assert_int_equal(passthrough_meter.zone_count(fixture->meter), 2);
	assert_int_equal(passthrough_meter.zone_at(fixture->meter, 0)->quality, QUALITY_MEASURED);
	assert_int_equal(passthrough_meter.zone_at(fixture->meter, 1)->quality, QUALITY_ESTIMATED);
	assert_int_equal(passthrough_meter.zone_at(fixture->meter, 1)->scope, SCOPE_VM_DYNAMIC);
	check_reading(fixture, 0, 0, 0);
	/* An answer before the next question is discarded. */
	while (passthrough_meter.read_raw(fixture->meter, 0, &raw) != 0)
		assert_true(dprintf(host, answer, 9U) > 0);
	assert_int_equal(raw.value, 2000000);
	passthrough_meter_counts(fixture->meter, &counts);
	assert_int_equal(counts.outcomes[PASSTHROUGH_BEGUN], 1);
	assert_int_equal(counts.outcomes[PASSTHROUGH_COUNTED], 1);
	assert_int_equal(counts.compared_own_us, 0);
	assert_false(passthrough_meter.remark(fixture->meter, 0, &unused));
	(void)close(host);
	(void)close(guest);
}

static void places_are_checked(void **state)
{
	const char *const good[] = { "auto",          "off",
				     "/dev/vport0p1", "vsock",
				     "vsock:1234",    "vsock:1:5000",
				     "vhostmd",       "vhostmd:/dev/vport0p1" };
	const char *const bad[] = { "",         "relative", "vsock:",   "vsock:0",  "vsock:x",
				    "vsock:1:", "vsockets", "vhostmd:", "vhostmdx", "vhostmd:x" };
	struct diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(passthrough_check_place(good[i], &diag), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(passthrough_check_place(bad[i], &diag), -EINVAL);
}

/* The loopback's CID in place of the host's: NULL where it works, else why it does not. */
static const char *open_loopback(int *ret_listener, unsigned *ret_port)
{
	struct sockaddr_vm address = { .svm_family = AF_VSOCK,
				       .svm_cid = VMADDR_CID_ANY,
				       .svm_port = VMADDR_PORT_ANY };
	int listener = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address);
	const char *fault = NULL;

	if (listener < 0 ||
	    bind(listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &len) < 0) {
		fault = "no vsock here";
	} else {
		*ret_port = address.svm_port;
		address.svm_cid = VMADDR_CID_LOCAL;
		if (connect(client, (const struct sockaddr *)&address, sizeof(address)) < 0)
			fault = "vsock has no loopback here";
		else
			(void)close(accept(listener, NULL, NULL));
	}
	if (client >= 0)
		(void)close(client);
	*ret_listener = listener;
	return fault;
}

static int vsock_listener;
static unsigned vsock_port;

static void a_connection_is_made_again(void **state)
{
	struct fixture *fixture = *state;
	char place[64];
	int peer;

	(void)snprintf(place, sizeof(place), "vsock:1:%u", vsock_port);
	open_on(fixture, place);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), -EAGAIN);
	peer = accept(vsock_listener, NULL, NULL);
	assert_true(peer >= 0);
	send_record(peer, usual);
	assert_int_equal(passthrough_meter.rescan(fixture->meter), 0);
	check_reading(fixture, 0, 110, 10);
	(void)close(peer);
	for (int r = -EAGAIN; r == -EAGAIN;) {
		struct raw_reading raw;
		struct meter_remark remark;

		/* Until the end of the connection is noticed. */
		r = passthrough_meter.read_raw(fixture->meter, 0, &raw);
		if (passthrough_meter.remark(fixture->meter, 0, &remark))
			break;
	}
	check_remark(fixture, "vsock:1:");
}

static int test_vsock(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_connection_is_made_again, setup, teardown),
	};
	const char *fault = open_loopback(&vsock_listener, &vsock_port);
	int r;

	if (fault) {
		(void)printf("1..0 # SKIP %s\n", fault);
		r = 0;
	} else {
		r = unit_run(tests);
	}
	if (vsock_listener >= 0)
		(void)close(vsock_listener);
	return r;
}

/* With any argument: over vsock, which few machines have. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_become_zones, setup, teardown),
		cmocka_unit_test_setup_teardown(readings_have_a_caveat, setup, teardown),
		cmocka_unit_test_setup_teardown(energy_without_idle_has_another_scope, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_account_without_energy_is_not_used, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_board_may_be_idle_while_cpus_work, setup,
						teardown),
		cmocka_unit_test_setup_teardown(files_are_read_when_they_are_replaced, setup,
						teardown),
		cmocka_unit_test_setup_teardown(another_machines_records_are_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_port_is_found_by_its_name, setup, teardown),
		cmocka_unit_test_setup_teardown(a_mounted_folder_is_found_by_its_tag, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_mounted_folder_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(only_a_file_is_opened_in_the_hosts_folder, setup,
						teardown),
		cmocka_unit_test_setup_teardown(scaphandres_tree_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_vsock_device_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(the_port_of_vhostmd_is_asked, setup, teardown),
		cmocka_unit_test(places_are_checked),
	};

	(void)argv;
	return argc > 1 ? test_vsock() : unit_run(tests);
}
