// SPDX-License-Identifier: Apache-2.0
/*
 * Files in private places that a configuration or its kubeconfig names can be read, their
 * neighbours cannot. Each in a process of its own, because Landlock is permanent.
 */
#include "engine/file_limits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "service/landlock.h"
#include "tests/rig/in_child.h"
#include "tests/unit/unit.h"

static const char *const folders[] = { "kube", "tokens", "keys", "state", "neighbour" };
static const char *const files[] = { "kube/config", "tokens/token", "keys/ca", "keys/key",
				     "neighbour/diary" };

static char home[40];

static const char *in_home(const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", home, name);
	return path;
}

static int set_up(void **state)
{
	static const char kubeconfig[] =
		"current-context: x\n"
		"contexts: [{name: x, context: {cluster: c, user: u}}]\n"
		"clusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\", "
		"certificate-authority: ../keys/ca}}]\n"
		"users: [{name: u, user: {tokenFile: ../tokens/token, "
		"client-certificate-data: eA==, client-key: ../keys/key}}]\n";

	(void)snprintf(home, sizeof(home), "/root/kepler-test-XXXXXX");
	if (!mkdtemp(home))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (strcmp(folders[i], "state") != 0 && mkdir(in_home(folders[i]), 0700) < 0)
			return -1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const char *text = i == 0 ? kubeconfig : "x";

		if (write_file_atomic(in_home(files[i]), text, strlen(text), 0600) < 0)
			return -1;
	}
	return 0;
}

static int tear_down(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		(void)unlink(in_home(files[i]));
	(void)unlink(in_home("state/new"));
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		(void)rmdir(in_home(folders[i]));
	return rmdir(home);
}

static bool can_read(const char *name)
{
	CLEANUP_FD int fd = open(in_home(name), O_RDONLY | O_CLOEXEC);

	return fd >= 0;
}

static int enter(const char *pods)
{
	char kubeconfig[128], state[128], source[64];
	char *argv[] = { kubeconfig, state, source, NULL };
	const struct option_args args = { .argc = 3, .argv = argv, .default_file = "" };
	struct config config;

	(void)snprintf(kubeconfig, sizeof(kubeconfig), "--kube.kubeconfig=%s/kube/config", home);
	(void)snprintf(state, sizeof(state), "--host.state-dir=%s/state", home);
	(void)snprintf(source, sizeof(source), "--kube.pods=%s", pods);
	if (config_load(&args, &config, NULL) < 0)
		return -1;
	return file_limits_enter(&config);
}

static int with_names(const void *argument)
{
	(void)argument;
	if (enter("apiserver") <= 0)
		return 42;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (can_read(files[i]) != (strcmp(files[i], "neighbour/diary") != 0))
			return (int)i + 1;
	}
	if (can_read(".") || can_read("neighbour"))
		return 20;
	return write_file_atomic(in_home("state/new"), "x", 1, 0600) == 0 ? 0 : 21;
}

static int without_names(const void *argument)
{
	(void)argument;
	if (enter("off") <= 0)
		return 42;
	return can_read("kube/config") || can_read("tokens/token") || !can_read("state") ? 1 : 0;
}

static void what_a_kubeconfig_names_is_read(void **state)
{
	assert_int_equal(in_child(with_names, NULL), 0);
	assert_int_equal(in_child(without_names, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_kubeconfig_names_is_read, set_up, tear_down),
	};

	if (!landlock_abi() || geteuid() != 0) {
		(void)printf("1..0 # SKIP wants Landlock and root\n");
		return 0;
	}
	return unit_run(tests);
}
