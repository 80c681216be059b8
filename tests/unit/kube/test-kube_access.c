// SPDX-License-Identifier: Apache-2.0
#include "kube/kube_access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/unit.h"

struct rig {
	char dir[64], path[96];
};

static int set_up(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	if (!rig)
		return -1;
	(void)snprintf(rig->dir, sizeof(rig->dir), "/tmp/test-kube-access-XXXXXX");
	if (!mkdtemp(rig->dir))
		return -1;
	(void)snprintf(rig->path, sizeof(rig->path), "%s/config", rig->dir);
	*state = rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	(void)unlink(rig->path);
	(void)rmdir(rig->dir);
	free(rig);
	return 0;
}

static void write_text(const char *path, const char *text)
{
	assert_int_equal(write_file_atomic(path, text, strlen(text), 0600), 0);
}

static int load(const struct rig *rig, const char *text, const char *context,
		struct kube_access *access, struct diag *diag)
{
	kube_access_init(access);
	write_text(rig->path, text);
	return kube_access_from_kubeconfig(rig->path, context, access, diag);
}

#define CONFIG(cluster, user)                                                                      \
	"apiVersion: v1\nkind: Config\ncurrent-context: lab\n"                                     \
	"contexts:\n- name: other\n  context: {cluster: c2, user: u2}\n"                           \
	"- name: lab\n  context:\n    cluster: c\n    user: u\n"                                   \
	"clusters:\n- name: c2\n  cluster: {server: \"https://two:6443/\"}\n"                      \
	"- name: c\n  cluster:\n    server: https://127.0.0.1:16443\n" cluster                     \
	"users:\n- name: u2\n  user: {tokenFile: /run/token}\n"                                    \
	"- name: u\n  user:\n    token: abc\n" user

static void reads_the_context_that_is_asked_for(void **state)
{
	struct kube_access access;
	struct diag diag = { "" };

	assert_int_equal(load(*state, CONFIG("    certificate-authority: ca.crt\n", ""), NULL,
			      &access, &diag),
			 0);
	assert_string_equal(access.server, "https://127.0.0.1:16443");
	assert_string_equal(access.token, "abc");
	assert_null(access.token_file);
	assert_non_null(strstr(access.ca_file, "/ca.crt")); /* next to the file */
	assert_int_equal(access.ca_file[0], '/');
	kube_access_release(&access);

	assert_int_equal(load(*state, CONFIG("", ""), "other", &access, &diag), 0);
	assert_string_equal(access.server, "https://two:6443");
	assert_string_equal(access.token_file, "/run/token");
	assert_null(access.token);
	assert_null(access.ca_file);
	kube_access_release(&access);
}

static void data_is_kept_in_memory_files(void **state)
{
	struct kube_access access;
	struct diag diag = { "" };
	char text[16];

	assert_int_equal(
		load(*state,
		     CONFIG("    certificate-authority: gone\n"
			    "    certificate-authority-data: am91bGU=\n",
			    "    client-certificate-data: am91\n    client-key-data: bGU=\n"),
		     NULL, &access, &diag),
		0);
	for (int i = 0; i < 2; i++) { /* each opening begins at the start */
		assert_int_equal(read_file_at(AT_FDCWD, access.ca_file, text, sizeof(text)), 5);
		assert_string_equal(text, "joule");
	}
	assert_int_equal(read_file_at(AT_FDCWD, access.client_cert_file, text, sizeof(text)), 3);
	assert_int_equal(read_file_at(AT_FDCWD, access.client_key_file, text, sizeof(text)), 2);
	assert_int_equal(kube_access_check_key(&access, &diag), 0);
	kube_access_release(&access);
}

static void refuse(void **state, const char *text, int err, const char *says)
{
	struct kube_access access;
	struct diag diag = { "" };
	int r = load(*state, text, NULL, &access, &diag);

	if (r != err || !strstr(diag.text, says))
		fail_msg("%s: %d, %s", says, r, diag.text);
	assert_null(access.server);
	kube_access_release(&access);
}

static void what_weakens_or_runs_is_refused_with_its_line(void **state)
{
	refuse(state, CONFIG("", "    exec:\n      command: aws\n"), -EOPNOTSUPP,
	       "/config:24: exec is not supported");
	refuse(state, CONFIG("", "    auth-provider: {name: gcp}\n"), -EOPNOTSUPP,
	       "/config:23: auth-provider is not supported");
	refuse(state, CONFIG("", "    username: admin\n"), -EOPNOTSUPP, "username is not");
	refuse(state, CONFIG("", "    as: admin\n"), -EOPNOTSUPP, "as is not");
	refuse(state, CONFIG("    insecure-skip-tls-verify: true\n", ""), -EOPNOTSUPP,
	       "/config:17: insecure-skip-tls-verify is not supported");
	refuse(state, CONFIG("", "    password: secret\n"), -EOPNOTSUPP, "password is not");
	refuse(state, CONFIG("", "    as-uid: u\n"), -EOPNOTSUPP, "as-uid is not");
	refuse(state, CONFIG("", "    as-groups: [system:masters]\n"), -EOPNOTSUPP,
	       "/config:23: as-groups is not supported: use the account's own");
	refuse(state, CONFIG("", "    as-user-extra: {a: [b]}\n"), -EOPNOTSUPP, "as-user-extra is");
	refuse(state, CONFIG("    proxy-url: https://p\n", ""), -EINVAL,
	       "/config:17: proxy-url is not http://");
	refuse(state, CONFIG("    proxy-url: http://\n", ""), -EINVAL, "proxy-url is not");
}

#define SERVER_AND_NAME(server, name)                                                              \
	"current-context: x\ncontexts:\n- {name: x, context: {cluster: c}}\n"                      \
	"clusters:\n- name: c\n  cluster:\n    server: " server "\n    tls-server-name: " name     \
	"\n"

/* Or each request would fail for ever. */
static void what_can_never_work_is_refused(void **state)
{
	struct kube_access access;
	struct diag diag = { "" };

	refuse(state, SERVER_AND_NAME("https://a", "kube_api"), -EINVAL,
	       "/config:8: tls-server-name is not a DNS name or IPv4 address");
	refuse(state, SERVER_AND_NAME("https://a", "'fd00::1'"), -EINVAL, "/config:8: tls-server");
	refuse(state, SERVER_AND_NAME("https://u@host", "host"), -EOPNOTSUPP,
	       "/config:7: a user in the server's address is not supported");
	refuse(state, SERVER_AND_NAME("http://u:p@host", "host"), -EOPNOTSUPP, "/config:7: a user");
	assert_int_equal(
		load(*state, SERVER_AND_NAME("http://a", "kube_api"), NULL, &access, &diag),
		0); /* no TLS, no name */
	kube_access_release(&access);
}

static void empty_values_do_no_harm(void **state)
{
	struct kube_access access;
	struct diag diag = { "" };

	assert_int_equal(load(*state,
			      CONFIG("    insecure-skip-tls-verify: false\n    proxy-url: \"\"\n",
				     "    exec: null\n    username: \"\"\n    as-groups: []\n"
				     "    as-user-extra: {}\n"),
			      NULL, &access, &diag),
			 0);
	assert_null(access.proxy_url);
	assert_null(access.tls_server_name);
	kube_access_release(&access);
}

static void another_name_and_another_way(void **state)
{
	static const char *const proxies[][2] = {
		{ "http://p:3128", "http://p:3128" },
		{ "http://u:s@p", "http://u:s@p" },
		{ "socks5://p:1080", "socks5h://p:1080" }, /* names are resolved there */
	};
	struct kube_access access;
	struct diag diag = { "" };

	for (size_t i = 0; i < ARRAY_SIZE(proxies); i++) {
		char text[1024];

		(void)snprintf(text, sizeof(text),
			       "current-context: x\ncontexts:\n- {name: x, context: {cluster: c}}\n"
			       "clusters:\n- name: c\n  cluster: {server: \"https://a\", "
			       "proxy-url: \"%s\", tls-server-name: kubernetes.default}\n",
			       proxies[i][0]);
		assert_int_equal(load(*state, text, NULL, &access, &diag), 0);
		assert_string_equal(access.proxy_url, proxies[i][1]);
		assert_string_equal(access.tls_server_name, "kubernetes.default");
		kube_access_release(&access);
	}
}

/* @text is a kubeconfig with a secret. */
static void refuse_to_others(void **state, const char *text)
{
	struct rig *rig = *state;
	struct kube_access access;
	struct diag diag = { "" };

	kube_access_init(&access);
	write_text(rig->path, text);
	assert_int_equal(chmod(rig->path, 0644), 0);
	assert_int_equal(kube_access_from_kubeconfig(rig->path, NULL, &access, &diag), -EPERM);
	assert_non_null(strstr(diag.text, "/config contains a secret"));
	assert_null(access.server);
	assert_int_equal(chmod(rig->path, 0600), 0);
	assert_int_equal(kube_access_from_kubeconfig(rig->path, NULL, &access, &diag), 0);
	kube_access_release(&access);
}

static void secrets_in_the_file_itself(void **state)
{
	struct rig *rig = *state;
	struct kube_access access;
	struct diag diag = { "" };

	refuse_to_others(state, CONFIG("", ""));
	/* A file's token wins, and the other one still is one. */
	refuse_to_others(state, CONFIG("", "    tokenFile: /nowhere/token\n"));
	refuse_to_others(state, CONFIG("", "    client-certificate-data: am91\n"
					   "    client-key-data: bGU=\n"));
	/* A proxy's password, but no credentials for the server. */
	refuse_to_others(state,
			 "current-context: x\ncontexts:\n- {name: x, context: {cluster: c}}\n"
			 "clusters:\n- name: c\n  cluster: {server: \"https://a\", "
			 "proxy-url: \"socks5://user:password@p:1080\"}\n");
	write_text(rig->path, "current-context: x\ncontexts:\n- {name: x, context: {cluster: c}}\n"
			      "clusters:\n- name: c\n  cluster: {server: \"https://a\", "
			      "proxy-url: \"http://p/@\"}\n");
	assert_int_equal(chmod(rig->path, 0644), 0);
	assert_int_equal(kube_access_from_kubeconfig(rig->path, NULL, &access, &diag), 0);
	kube_access_release(&access);
}

static void secrets_are_their_owners_alone(void **state)
{
	struct rig *rig = *state;
	struct kube_access access;
	struct diag diag = { "" };
	char text[2048], key[112];

	/* Not readable by others, as is a file without a secret that is. */
	write_text(rig->path, CONFIG("", ""));
	assert_int_equal(chmod(rig->path, 0640), 0);
	assert_int_equal(kube_access_from_kubeconfig(rig->path, NULL, &access, &diag), -EPERM);
	assert_non_null(strstr(diag.text, "/config contains a secret and others can read it (mode "
					  "0640): chmod 600 "));
	assert_int_equal(kube_access_from_kubeconfig(rig->path, "other", &access, &diag), 0);
	kube_access_release(&access);

	(void)snprintf(key, sizeof(key), "%s/key", rig->dir);
	write_text(key, "k");
	(void)snprintf(text, sizeof(text), CONFIG("", "    tokenFile: %s\n"), key);
	assert_int_equal(load(rig, text, NULL, &access, &diag), 0);
	assert_int_equal(chmod(key, 0604), 0);
	assert_int_equal(kube_access_token(&access, &(char *){ NULL }, &diag), -EPERM);
	kube_access_release(&access);
	assert_int_equal(load(rig, text, NULL, &access, &diag), -EPERM);
	assert_non_null(strstr(diag.text, "/key contains a secret"));
	(void)snprintf(text, sizeof(text),
		       CONFIG("", "    client-certificate: c\n    client-key: %s\n"), key);
	assert_int_equal(load(rig, text, NULL, &access, &diag), -EPERM);
	assert_int_equal(chmod(key, 0600), 0);
	assert_int_equal(load(rig, text, NULL, &access, &diag), 0);
	assert_int_equal(kube_access_check_key(&access, &diag), 0);
	assert_int_equal(chmod(key, 0640), 0); /* later */
	assert_int_equal(kube_access_check_key(&access, &diag), -EPERM);
	kube_access_release(&access);
	assert_int_equal(unlink(key), 0);
}

/* systemd 254 and later shows a credential as 0440, for an ACL that lets its service alone read. */
static void broken_files_are_named(void **state)
{
	static const char *const clusters[] = { "", "clusters: 5\n", "clusters: [1, {name: c}]\n" };

	refuse(state, "", -EINVAL, "current-context");
	refuse(state, "[1]", -EINVAL, "current-context");
	refuse(state, "a: [", -EINVAL, "/config:");
	refuse(state, "current-context: x\n", -EINVAL, "there is no context named x");
	for (size_t i = 0; i < ARRAY_SIZE(clusters); i++) {
		char text[256];

		(void)snprintf(
			text, sizeof(text),
			"current-context: x\ncontexts:\n- {name: x, context: {cluster: c}}\n%s",
			clusters[i]);
		refuse(state, text, -EINVAL, "there is no cluster named c");
	}
	refuse(state,
	       "current-context: x\ncontexts:\n- {name: x, context: {cluster: c, user: u}}\n"
	       "clusters:\n- {name: c, cluster: {server: \"https://a\"}}\n",
	       -EINVAL, "there is no user named u");
	refuse(state,
	       "current-context: x\ncontexts:\n- {name: x, context: {cluster: c}}\n"
	       "clusters:\n- {name: c, cluster: {server: \"ftp://a\"}}\n",
	       -EINVAL, "/config:5: the cluster has no server");
	refuse(state, CONFIG("    certificate-authority-data: \"!\"\n", ""), -EINVAL,
	       "/config:17: is not base64");
	refuse(state, CONFIG("", "    client-certificate: x\n"), -EINVAL, "must be given together");
}

static void a_missing_file_is_named(void **state)
{
	struct kube_access access;
	struct diag diag = { "" };

	assert_int_equal(kube_access_from_kubeconfig("/nowhere/config", NULL, &access, &diag),
			 -ENOENT);
	assert_non_null(strstr(diag.text, "/nowhere/config"));
}

static void the_cluster_we_are_in(void **state)
{
	struct kube_access access;

	assert_int_equal(kube_access_in_cluster("/sa", "10.96.0.1", "443", &access, NULL), 0);
	assert_string_equal(access.server, "https://10.96.0.1:443");
	assert_string_equal(access.ca_file, "/sa/ca.crt");
	assert_string_equal(access.token_file, "/sa/token");
	kube_access_release(&access);
	assert_int_equal(kube_access_in_cluster("/sa", "fd00::1", NULL, &access, NULL), 0);
	assert_string_equal(access.server, "https://[fd00::1]:443");
	kube_access_release(&access);
	assert_int_equal(kube_access_in_cluster("/sa", NULL, NULL, &access, NULL), 0);
	assert_null(access.server);
	kube_access_release(&access);
}

static void tokens_are_read_when_they_are_needed(void **state)
{
	struct rig *rig = *state;
	struct kube_access access = { .token_file = rig->path };
	struct diag diag = { "" };
	char *token = NULL;

	(void)unlink(rig->path);
	assert_int_equal(kube_access_token(&access, &token, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, rig->path));
	write_text(rig->path, "first\n");
	assert_int_equal(kube_access_token(&access, &token, &diag), 0);
	assert_string_equal(token, "first");
	kube_token_free(token);
	write_text(rig->path, "second");
	assert_int_equal(kube_access_token(&access, &token, &diag), 0);
	assert_string_equal(token, "second");
	kube_token_free(token);
	write_text(rig->path, " \n");
	assert_int_equal(kube_access_token(&access, &token, &diag), -EINVAL);
	assert_null(token);
	access.token_file = NULL;
	assert_int_equal(kube_access_token(&access, &token, &diag), 0);
	assert_null(token);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_context_that_is_asked_for),
		cmocka_unit_test(data_is_kept_in_memory_files),
		cmocka_unit_test(what_weakens_or_runs_is_refused_with_its_line),
		cmocka_unit_test(what_can_never_work_is_refused),
		cmocka_unit_test(empty_values_do_no_harm),
		cmocka_unit_test(another_name_and_another_way),
		cmocka_unit_test(secrets_in_the_file_itself),
		cmocka_unit_test(secrets_are_their_owners_alone),
		cmocka_unit_test(broken_files_are_named),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(the_cluster_we_are_in),
		cmocka_unit_test(tokens_are_read_when_they_are_needed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
