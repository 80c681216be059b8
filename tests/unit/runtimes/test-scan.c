// SPDX-License-Identifier: Apache-2.0
/* Whole trees of made-up state against the reports to the directory. */
#include "fake_directory.h"
#include "state_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "runtimes/scan_sources.h"

#define TASKS  "/run/containerd/io.containerd.runtime.v2.task"
#define GRAPH  "/var/lib/containers/storage/overlay-containers"
#define RUN    "/run/containers/storage/overlay-containers"

#define UID    "5f0c7a3e-1b2d-4c6f-9a8b-0d1e2f3a4b5c"
#define IN_POD "\"linux\":{\"cgroupsPath\":\"/kubepods/pod" UID "/x\"}"

struct fixture {
	struct state_tree tree;
	struct scan scan;
	atomic_bool stop;
};

static const char *const web_bundle =
	"{\"ociVersion\":\"1.0\",\"annotations\":{\"io.kubernetes.cri.container-name\":\"web\","
	"\"io.kubernetes.cri.sandbox-uid\":\"" UID "\","
	"\"io.kubernetes.cri.sandbox-name\":\"shop\"}," IN_POD "}";

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){ .stop = false };
	fake_reset();
	tree_make(&fixture.tree);
	*state = &fixture;
	return scan_init(
		&fixture.scan,
		&(struct runtimes_options){ .root = fixture.tree.root, .docker_socket = "" }, NULL,
		&fixture.stop, -1);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	scan_sources_release(&f->scan);
	tree_remove(&f->tree, "");
	return 0;
}

static void test_nothing_there(void **state)
{
	struct fixture *f = *state;

	scan_sources_run(&f->scan, 1);
	assert_string_equal(f->scan.stats.present, "");
	assert_int_equal(f->scan.stats.failures, 0);
	assert_false(fake_directory.reachable);
	assert_int_equal(fake_answer.clients, 0); /* no socket was configured */
}

static void test_containerd(void **state)
{
	struct fixture *f = *state;

	tree_write(&f->tree, TASKS "/k8s.io/c1/config.json", web_bundle);
	tree_write(&f->tree, TASKS "/default/plain/config.json", "{\"ociVersion\":\"1.0\"}");
	tree_write(&f->tree, TASKS "/moby/d1/config.json", web_bundle);
	scan_sources_run(&f->scan, 1);
	assert_string_equal(f->scan.stats.present, "containerd");
	assert_true(fake_directory.reachable);
	assert_int_equal(fake_directory.count, 2);
	assert_string_equal(fake_find("c1")->name, "web");
	assert_string_equal(fake_find("c1")->pod, "shop");
	assert_string_equal(fake_find("plain")->name,
			    ""); /* known to have none: none to wait for */
	/* Known: not read, not put. A bundle does not change while its directory is the same. */
	tree_write(&f->tree, TASKS "/k8s.io/c1/config.json", "broken");
	scan_sources_run(&f->scan, 2);
	assert_int_equal(fake_directory.puts, 2);
	assert_int_equal(f->scan.stats.bad, 0);
	/* Gone. */
	tree_remove(&f->tree, TASKS "/k8s.io/c1");
	scan_sources_run(&f->scan, 3);
	assert_int_equal(fake_directory.removes, 1);
	assert_null(fake_find("c1"));
	assert_int_equal(f->scan.stats.containers, 1);
	/* The runtime is gone, and all that it said. */
	tree_remove(&f->tree, "/run");
	scan_sources_run(&f->scan, 4);
	assert_int_equal(fake_directory.count, 0);
	assert_false(fake_directory.reachable);
}

static void test_same_id_new_bundle(void **state)
{
	const struct timespec other_times[] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct fixture *f = *state;
	char path[512];

	tree_write(&f->tree, TASKS "/default/job/config.json", web_bundle);
	tree_write(&f->tree, TASKS "/default/other/config.json", web_bundle);
	scan_sources_run(&f->scan, 1);
	tree_remove(&f->tree, TASKS "/default/job");
	tree_write(&f->tree, TASKS "/default/filler/config.json", web_bundle);
	tree_write(&f->tree, TASKS "/default/job/config.json",
		   "{\"ociVersion\":\"1.0\",\"annotations\":{\"nerdctl/name\":\"second\"}}");
	/* Both may have got one inode, within one tick of the file system's clock. */
	(void)snprintf(path, sizeof(path), "%s" TASKS "/default/job", f->tree.root);
	assert_int_equal(utimensat(AT_FDCWD, path, other_times, 0), 0);
	scan_sources_run(&f->scan, 2);
	assert_string_equal(fake_find("job")->name, "second");
	assert_int_equal(fake_directory.removes, 0);
}

static void test_hostile_bundles(void **state)
{
	struct fixture *f = *state;
	char *huge = calloc(1, SCAN_CONFIG_MAX + 2);

	assert_non_null(huge);
	memset(huge, ' ', SCAN_CONFIG_MAX + 1);
	tree_write(&f->tree, "/secret/config.json", web_bundle);
	tree_link(&f->tree, TASKS "/default/linked", "../../../../secret");
	tree_link(&f->tree, TASKS "/linked", "../../../secret");
	tree_link(&f->tree, TASKS "/default/file/config.json", "/secret/config.json");
	tree_fifo(&f->tree, TASKS "/default/fifo/config.json");
	tree_write(&f->tree, TASKS "/default/huge/config.json", huge);
	tree_write(&f->tree, TASKS "/default/broken/config.json", "{\"ociVersion\":\"1.0\",");
	tree_write(&f->tree, TASKS "/default/half/rootfs/x", "");
	tree_write(&f->tree, TASKS "/default/good/config.json", web_bundle);
	free(huge);
	scan_sources_run(&f->scan, 1);
	assert_int_equal(fake_directory.count, 1);
	assert_non_null(fake_find("good"));
	assert_int_equal(f->scan.stats.bad,
			 4); /* link, fifo, huge, broken; "half" is not ready yet */
	assert_true(strstr(f->scan.stats.last_error, "containerd: ") != NULL);
	assert_int_equal(f->scan.stats.failures, 0);
	/* A runtime that was not ready is asked again. */
	tree_write(&f->tree, TASKS "/default/half/config.json", web_bundle);
	scan_sources_run(&f->scan, 2);
	assert_non_null(fake_find("half"));
}

static void test_podman_and_crio(void **state)
{
	struct fixture *f = *state;

	tree_write(&f->tree, GRAPH "/containers.json",
		   "[{\"id\":\"p1\",\"names\":[\"db\"],\"image\":\"sha\",\"metadata\":"
		   "\"{\\\"name\\\":\\\"old\\\"}\"},"
		   "{\"id\":\"p2\",\"metadata\":\"{\\\"name\\\":\\\"meta\\\"}\"},"
		   "{\"id\":\"p3\",\"names\":[\"plain\"],\"metadata\":\"not json\"},"
		   "{\"id\":\"k1\",\"names\":[\"k8s_web\"],\"metadata\":"
		   "\"{\\\"pod-name\\\":\\\"shop\\\"}\"},{\"id\":\"../x\"},5]");
	tree_write(&f->tree, RUN "/volatile-containers.json",
		   "[{\"id\":\"v1\",\"names\":[\"gone-soon\"],\"metadata\":\"\"}]");
	tree_write(&f->tree, RUN "/p1/userdata/config.json", "{\"ociVersion\":\"1.0\"}");
	tree_write(&f->tree, RUN "/k1/userdata/config.json",
		   "{\"ociVersion\":\"1.0\",\"annotations\":{\"io.kubernetes.container.name\":"
		   "\"web\",\"io.kubernetes.pod.uid\":\"" UID "\","
		   "\"io.kubernetes.pod.name\":\"shop\"}," IN_POD "}");
	scan_sources_run(&f->scan, 1);
	assert_string_equal(f->scan.stats.present, "podman cri-o");
	assert_int_equal(fake_directory.count, 5);
	assert_string_equal(fake_find("p1")->name, "db");
	assert_string_equal(fake_find("p2")->name, "meta");
	assert_string_equal(fake_find("p3")->name, "plain");
	assert_string_equal(fake_find("v1")->name, "gone-soon");
	assert_string_equal(fake_find("k1")->name, "web");
	assert_string_equal(fake_find("k1")->pod, "shop");
	assert_int_equal(f->scan.stats.bad, 2);
	/* Unchanged lists are not read. */
	scan_sources_run(&f->scan, 2);
	assert_int_equal(f->scan.stats.bad, 2);
	assert_int_equal(fake_directory.puts, 5);
	/* One list changed: the other's stay. */
	tree_write(&f->tree, RUN "/volatile-containers.json", "[]");
	scan_sources_run(&f->scan, 3);
	assert_null(fake_find("v1"));
	assert_int_equal(fake_directory.count, 4);
	/* A list that is broken takes nothing back. */
	tree_write(&f->tree, GRAPH "/containers.json", "[{\"id\":\"p1\"");
	scan_sources_run(&f->scan, 4);
	assert_int_equal(fake_directory.count, 4);
	assert_int_equal(f->scan.stats.failures, 1);
}

static void test_docker_state(void **state)
{
	struct fixture *f = *state;

	tree_write(&f->tree, "/var/lib/docker/containers/d1/config.v2.json",
		   "{\"ID\":\"d1\",\"Name\":\"/web\",\"Config\":{\"Image\":\"nginx\"}}");
	tree_write(&f->tree, "/var/lib/docker/containers/d2/config.v2.json",
		   "{\"ID\":\"d1\",\"Name\":\"/false\"}"); /* speaks of another container */
	scan_sources_run(&f->scan, 1);
	assert_string_equal(f->scan.stats.present, "docker");
	assert_int_equal(fake_directory.count, 1);
	assert_string_equal(fake_find("d1")->name, "web");
	assert_int_equal(f->scan.stats.bad, 1);
	tree_write(&f->tree, "/var/lib/docker/containers/d1/config.v2.json",
		   "{\"ID\":\"d1\",\"Name\":\"/renamed\",\"Config\":{\"Image\":\"nginx\"}}");
	scan_sources_run(&f->scan, 2);
	assert_string_equal(fake_find("d1")->name, "renamed");
	assert_int_equal(fake_directory.removes, 0);
}

static void test_docker_socket(void **state)
{
	struct fixture *f = *state;
	char long_path[128] = "";

	scan_sources_release(&f->scan);
	assert_int_equal(scan_init(&f->scan,
				   &(struct runtimes_options){ .root = f->tree.root,
							       .docker_socket = "/run/d.sock" },
				   NULL, &f->stop, -1),
			 0);
	fake_answer.body = "[{\"Id\":\"s1\",\"Names\":[\"/web\"]}]";
	scan_sources_run(&f->scan, 1);
	assert_string_equal(f->scan.stats.present, "docker-api");
	assert_string_equal(fake_find("s1")->name, "web");
	assert_true(strstr(fake_answer.socket, "/run/d.sock") != NULL);
	/* Failures of every kind take nothing back. */
	for (int i = 0; i < 4; i++) {
		fake_answer.error = i == 0 ? -ECONNREFUSED : i == 1 ? -ETIMEDOUT : 0;
		fake_answer.status = i == 2 ? 500 : 200;
		fake_answer.body = "[{";
		scan_sources_run(&f->scan, 2);
		assert_non_null(fake_find("s1"));
		assert_false(fake_directory.reachable);
	}
	assert_int_equal(f->scan.stats.failures, 4);
	assert_int_equal(f->scan.stats.sockets_down, 1);
	assert_true(strncmp(f->scan.stats.last_error, "docker-api: ", 12) == 0);
	fake_answer.body = "[]";
	scan_sources_run(&f->scan, 3);
	assert_int_equal(fake_directory.count, 0);
	assert_int_equal(fake_answer.clients, 1);
	memset(long_path, 'a', sizeof(long_path) - 1);
	scan_sources_release(&f->scan);
	assert_int_equal(scan_init(&f->scan,
				   &(struct runtimes_options){ .podman_socket = long_path }, NULL,
				   &f->stop, -1),
			 0);
	assert_int_equal(scan_podman_api(&f->scan), -ENAMETOOLONG);
}

static void test_first_source_names(void **state)
{
	struct fixture *f = *state;

	tree_write(&f->tree, TASKS "/k8s.io/x1/config.json", web_bundle);
	tree_write(&f->tree, "/var/lib/docker/containers/x1/config.v2.json",
		   "{\"ID\":\"x1\",\"Name\":\"/other\"}");
	scan_sources_run(&f->scan, 1);
	scan_sources_run(&f->scan, 2);
	assert_string_equal(fake_find("x1")->name, "web");
	assert_int_equal(fake_directory.puts, 1);
	tree_remove(&f->tree, TASKS "/k8s.io/x1");
	scan_sources_run(&f->scan, 3);
	assert_string_equal(fake_find("x1")->name, "other");
	assert_int_equal(fake_directory.removes, 0);
}

static void test_full_directory(void **state)
{
	struct fixture *f = *state;
	char path[128];

	fake_directory.room = 2;
	for (int i = 0; i < 5; i++) {
		(void)snprintf(path, sizeof(path), TASKS "/default/c%d/config.json", i);
		tree_write(&f->tree, path, web_bundle);
	}
	scan_sources_run(&f->scan, 1);
	assert_int_equal(fake_directory.count, 2);
	assert_int_equal(f->scan.stats.refused, 3);
	assert_int_equal(f->scan.stats.bad, 0);
	fake_directory.room = 5;
	scan_sources_run(&f->scan, 2); /* tried again */
	assert_int_equal(fake_directory.count, 5);
	assert_int_equal(f->scan.stats.refused, 0);
}

static void test_stop_takes_nothing_back(void **state)
{
	struct fixture *f = *state;

	tree_write(&f->tree, TASKS "/default/c1/config.json", web_bundle);
	scan_sources_run(&f->scan, 1);
	tree_remove(&f->tree, TASKS "/default/c1");
	tree_write(&f->tree, TASKS "/default/c2/config.json", web_bundle);
	f->stop = true;
	scan_sources_run(&f->scan, 2);
	assert_non_null(fake_find("c1"));
	assert_null(fake_find("c2"));
	assert_string_equal(f->scan.stats.present, "containerd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_containerd, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_id_new_bundle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_bundles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_podman_and_crio, setup, teardown),
		cmocka_unit_test_setup_teardown(test_docker_state, setup, teardown),
		cmocka_unit_test_setup_teardown(test_docker_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_source_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_directory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stop_takes_nothing_back, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
