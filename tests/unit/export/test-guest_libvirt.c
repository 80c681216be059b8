// SPDX-License-Identifier: Apache-2.0
/* Files are replaced as libvirt does it, in a directory of the test's own. */
#include "export/guests/guest_libvirt.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/unit.h"

#define UUID_A "8a4c1f0e-33b7-4d19-9e5f-7c2b6a1d0e48"
#define UUID_B "1b6a2c3d-0000-4111-8222-333344445555"

struct stage {
	char folder[64];
	struct guest_libvirt libvirt;
	struct timespec now;
};

static void open_stage(struct stage *stage)
{
	*stage = (struct stage){ .now = { .tv_sec = INT32_MAX } };
	(void)snprintf(stage->folder, sizeof(stage->folder), "/tmp/kepler-libvirt-XXXXXX");
	assert_non_null(mkdtemp(stage->folder));
	stage->libvirt.folder = stage->folder;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void close_stage(struct stage *stage)
{
	guest_libvirt_release(&stage->libvirt);
	assert_int_equal(nftw(stage->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void write_text(const struct stage *stage, const char *name, const char *text)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", stage->folder, name);
	assert_int_equal(write_file_atomic(path, text, strlen(text), 0600), 0);
}

static void write_machine(const struct stage *stage, const char *name, uint32_t pid,
			  const char *uuid, uint32_t cid)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "<domstatus state='running' pid='%u'><domain><uuid>%s</uuid><devices>"
		       "<channel type='unix'><source mode='bind' path='/run/%s'/>"
		       "<target type='virtio' name='io.kepler.energy.0'/></channel>"
		       "<vsock><cid address='%u'/></vsock></devices></domain></domstatus>",
		       pid, uuid, name, cid);
	write_text(stage, name, text);
}

static struct guest_process completed(const struct stage *stage, uint32_t pid, const char *uuid)
{
	struct guest_process process = { .pid = pid, .vsock_cid = 3 };

	(void)snprintf(process.uuid, sizeof(process.uuid), "%s", uuid);
	guest_libvirt_complete(&stage->libvirt, &process, 1);
	return process;
}

static void a_process_has_what_libvirt_knows(void **state)
{
	struct stage stage;

	open_stage(&stage);
	write_machine(&stage, "web.xml", 7, UUID_A, 77);
	write_machine(&stage, "db.xml", 8, UUID_B, 0);
	write_text(&stage, "web.pid", "7\n");
	assert_true(guest_libvirt_look(&stage.libvirt, &stage.now));
	assert_int_equal(stage.libvirt.known, 2);
	assert_int_equal(completed(&stage, 7, UUID_A).vsock_cid, 77);
	assert_string_equal(completed(&stage, 7, UUID_A).energy_socket, "/run/web.xml");
	assert_int_equal(completed(&stage, 8, UUID_B).vsock_cid, 0); /* it was removed */
	close_stage(&stage);
}

/* A file that was left behind, whose pid belongs to another machine by now. */
static void a_file_belongs_to_its_uuid(void **state)
{
	struct guest_process process;
	struct stage stage;

	open_stage(&stage);
	write_machine(&stage, "web.xml", 7, UUID_A, 77);
	(void)guest_libvirt_look(&stage.libvirt, &stage.now);
	process = completed(&stage, 7, UUID_B);
	assert_int_equal(process.vsock_cid, 3);
	assert_string_equal(process.energy_socket, "");
	assert_int_equal(completed(&stage, 8, UUID_A).vsock_cid, 3);
	close_stage(&stage);
}

static void changes_are_seen_and_nothing_else_is_read(void **state)
{
	struct stage stage;

	open_stage(&stage);
	write_machine(&stage, "web.xml", 7, UUID_A, 77);
	assert_true(guest_libvirt_look(&stage.libvirt, &stage.now));
	assert_false(guest_libvirt_look(&stage.libvirt, &stage.now));
	write_machine(&stage, "web.xml", 7, UUID_A, 78);
	stage.libvirt.changed = (struct timespec){ 0 }; /* the clock may not have gone on */
	assert_true(guest_libvirt_look(&stage.libvirt, &stage.now));
	assert_int_equal(completed(&stage, 7, UUID_A).vsock_cid, 78);
	stage.libvirt.changed = (struct timespec){ 0 };
	assert_false(guest_libvirt_look(&stage.libvirt, &stage.now)); /* the same file */
	close_stage(&stage);
}

/* Another change may follow with the same time. */
static void a_directory_that_changed_just_now_is_read_again(void **state)
{
	struct stage stage;
	struct stat st;

	open_stage(&stage);
	write_machine(&stage, "web.xml", 7, UUID_A, 77);
	assert_int_equal(stat(stage.folder, &st), 0);
	(void)guest_libvirt_look(&stage.libvirt, &st.st_mtim);
	assert_int_equal(stage.libvirt.changed.tv_sec, 0);
	close_stage(&stage);
}

static void a_machine_that_ends_is_forgotten(void **state)
{
	char path[128];
	struct stage stage;

	open_stage(&stage);
	write_machine(&stage, "web.xml", 7, UUID_A, 77);
	(void)guest_libvirt_look(&stage.libvirt, &stage.now);
	(void)snprintf(path, sizeof(path), "%s/web.xml", stage.folder);
	assert_int_equal(unlink(path), 0);
	stage.libvirt.changed = (struct timespec){ 0 };
	assert_true(guest_libvirt_look(&stage.libvirt, &stage.now));
	assert_int_equal(stage.libvirt.known, 0);
	assert_int_equal(completed(&stage, 7, UUID_A).vsock_cid, 3);
	close_stage(&stage);
}

static void faults_are_counted(void **state)
{
	struct stage stage;

	open_stage(&stage);
	write_text(&stage, "bad.xml", "<domstatus pid='7'>");
	write_machine(&stage, "web.xml", 7, UUID_A, 77);
	assert_true(guest_libvirt_look(&stage.libvirt, &stage.now));
	assert_int_equal(stage.libvirt.errors, 1);
	assert_int_equal(stage.libvirt.known, 1);
	guest_libvirt_release(&stage.libvirt);
	stage.libvirt.folder = "/nonexistent"; /* libvirt has not been started yet */
	assert_false(guest_libvirt_look(&stage.libvirt, &stage.now));
	assert_int_equal(stage.libvirt.errors, 1);
	stage.libvirt.folder = "/dev/null";
	assert_false(guest_libvirt_look(&stage.libvirt, &stage.now));
	assert_int_equal(stage.libvirt.errors, 2);
	close_stage(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_has_what_libvirt_knows),
		cmocka_unit_test(a_file_belongs_to_its_uuid),
		cmocka_unit_test(changes_are_seen_and_nothing_else_is_read),
		cmocka_unit_test(a_directory_that_changed_just_now_is_read_again),
		cmocka_unit_test(a_machine_that_ends_is_forgotten),
		cmocka_unit_test(faults_are_counted),
	};

	return unit_run(tests);
}
