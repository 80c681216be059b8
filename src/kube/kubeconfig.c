// SPDX-License-Identifier: Apache-2.0
/*
 * A kubeconfig file (k8s.io/client-go/tools/clientcmd/api/v1, types.go): lists of named contexts,
 * clusters and users; a context names one of each. It is read as a tree by libyaml, which has the
 * position of each node, so that a message can name the line. Unknown keys are ignored, as kubectl
 * does.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <yaml.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/secret_file.h"
#include "kube/base64.h"
#include "kube/kube_access.h"
#include "net/http_tls_name.h"
#include "net/http_url.h"

#define KUBECONFIG_MAX (1U << 20)

struct kubeconfig {
	yaml_document_t document;
	bool loaded;
	const char *path;
	struct kube_access *access;
	struct diag *diag;
};

static void kubeconfig_release(struct kubeconfig *config)
{
	if (config->loaded)
		yaml_document_delete(&config->document);
}

static int fail_at(const struct kubeconfig *config, const yaml_node_t *node, int err,
		   const char *what)
{
	return diag_set(config->diag, err, "%s:%zu: %s", config->path,
			node ? node->start_mark.line + 1 : 1, what);
}

static const char *text_of(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
						      : NULL;
}

/* The value of @key in @map, or NULL. */
static yaml_node_t *find(struct kubeconfig *config, const yaml_node_t *map, const char *key)
{
	if (!map || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++) {
		const char *name = text_of(yaml_document_get_node(&config->document, pair->key));

		if (name && strcmp(name, key) == 0)
			return yaml_document_get_node(&config->document, pair->value);
	}
	return NULL;
}

/* The text of @key; NULL if it is missing, empty or null. */
static const char *find_text(struct kubeconfig *config, const yaml_node_t *map, const char *key)
{
	const char *text = text_of(find(config, map, key));

	return text && *text && strcmp(text, "null") != 0 && strcmp(text, "~") != 0 ? text : NULL;
}

/* "contexts": [{name: NAME, context: {…}}]: the inner one, NULL with diag. */
static const yaml_node_t *find_named(struct kubeconfig *config, const yaml_node_t *root,
				     const char *list_key, const char *inner_key, const char *name)
{
	const yaml_node_t *list = find(config, root, list_key);
	char what[256];

	if (list && list->type == YAML_SEQUENCE_NODE) {
		for (const yaml_node_item_t *item = list->data.sequence.items.start;
		     item < list->data.sequence.items.top; item++) {
			const yaml_node_t *entry = yaml_document_get_node(&config->document, *item);
			const char *entry_name = find_text(config, entry, "name");
			const yaml_node_t *inner = find(config, entry, inner_key);

			if (entry_name && inner && strcmp(entry_name, name) == 0)
				return inner;
		}
	}
	(void)snprintf(what, sizeof(what), "there is no %s named %.128s", inner_key, name);
	(void)fail_at(config, list ? list : root, -EINVAL, what);
	return NULL;
}

/* Takes a path relative to the directory of the kubeconfig. */
static int take_path(struct kubeconfig *config, const char *text, char **ret)
{
	const char *slash = strrchr(config->path, '/');
	char dir[4096] = ".", path[4096];

	if (slash)
		(void)snprintf(dir, sizeof(dir), "%.*s", (int)(slash - config->path + 1),
			       config->path);
	if (*text == '/')
		*ret = strdup(text);
	else
		*ret = path_join(path, sizeof(path), dir, text) < 0 ? NULL : strdup(path);
	return *ret ? 0 : diag_set(config->diag, -ENOMEM, "out of memory");
}

/* Puts @len bytes into a file in memory and gives a path that opens it from the start each time. */
static int keep_data(struct kubeconfig *config, const char *data, size_t len, char **ret)
{
	struct kube_access *access = config->access;
	CLEANUP_FD int fd = memfd_create("kubeconfig", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char path[64];

	if (fd < 0 || access->data_count == KUBE_ACCESS_FDS || write(fd, data, len) != (ssize_t)len)
		return diag_set(config->diag, -EIO, "%s: no memory file for its data",
				config->path);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*ret = strdup(path);
	if (!*ret)
		return diag_set(config->diag, -ENOMEM, "out of memory");
	access->data_fds[access->data_count++] = TAKE_FD(fd);
	return 0;
}

/* NAME-data wins over NAME, as in client-go. */
static int take_pem(struct kubeconfig *config, const yaml_node_t *map, const char *name, char **ret)
{
	char data_key[64];
	const char *file = find_text(config, map, name), *text;
	char *data = NULL;
	size_t len = 0;
	int r;

	(void)snprintf(data_key, sizeof(data_key), "%s-data", name);
	text = find_text(config, map, data_key);
	if (!text)
		return file ? take_path(config, file, ret) : 0;
	r = base64_decode(text, &data, &len);
	if (r < 0)
		return fail_at(config, find(config, map, data_key), r, "is not base64");
	r = keep_data(config, data, len, ret);
	explicit_bzero(data, len);
	free(data);
	return r;
}

/* Returns true if @node is missing, empty, null or false. */
static bool is_nothing(const yaml_node_t *node)
{
	static const char *const words[] = { "", "false", "null", "~" };
	const char *text = text_of(node);

	if (!node)
		return true;
	if (node->type == YAML_SEQUENCE_NODE)
		return node->data.sequence.items.start == node->data.sequence.items.top;
	if (node->type == YAML_MAPPING_NODE)
		return node->data.mapping.pairs.start == node->data.mapping.pairs.top;
	for (size_t i = 0; text && i < ARRAY_SIZE(words); i++) {
		if (strcmp(text, words[i]) == 0)
			return true;
	}
	return false;
}

static int refuse(struct kubeconfig *config, const yaml_node_t *map, const char *key,
		  const char *why)
{
	const yaml_node_t *node = find(config, map, key);
	char what[256];

	if (is_nothing(node))
		return 0;
	(void)snprintf(what, sizeof(what), "%s is not supported: %s", key, why);
	return fail_at(config, node, -EOPNOTSUPP, what);
}

static int copy(struct kubeconfig *config, const char *text, char **ret)
{
	*ret = strdup(text);
	return *ret ? 0 : diag_set(config->diag, -ENOMEM, "out of memory");
}

/*
 * A proxy's password makes the file a secret. A socks5 proxy resolves names itself, as with
 * client-go: libcurl's name for that is socks5h.
 */
static int read_proxy(struct kubeconfig *config, const yaml_node_t *cluster)
{
	static const char *const schemes[][2] = { { "http://", "http://" },
						  { "socks5://", "socks5h://" },
						  { "socks5h://", "socks5h://" } };
	const char *url = find_text(config, cluster, "proxy-url");

	for (size_t i = 0; url && i < ARRAY_SIZE(schemes); i++) {
		size_t len = strlen(schemes[i][0]);

		if (strncmp(url, schemes[i][0], len) != 0 || !url[len])
			continue;
		if (http_url_has_user(url)) {
			int r = secret_file_check(config->path, config->diag);

			if (r < 0)
				return r;
		}
		if (asprintf(&config->access->proxy_url, "%s%s", schemes[i][1], url + len) < 0) {
			config->access->proxy_url = NULL;
			return diag_set(config->diag, -ENOMEM, "out of memory");
		}
		return 0;
	}
	return url ? fail_at(config, find(config, cluster, "proxy-url"), -EINVAL,
			     "proxy-url is not http://… or socks5://…")
		   : 0;
}

/* A value with which no request can succeed is refused at once. */
static int read_tls_name(struct kubeconfig *config, const yaml_node_t *cluster)
{
	const char *server = config->access->server;
	const char *name = find_text(config, cluster, "tls-server-name");
	struct http_tls_name route;
	int r;

	if (!name)
		return 0;
	if (http_url_is_https(server)) {
		r = http_tls_name_apply(server, name, &route);
		if (r == -EINVAL)
			return fail_at(config, find(config, cluster, "tls-server-name"), r,
				       "tls-server-name is not a DNS name or IPv4 address");
		if (r < 0)
			return diag_set(config->diag, r, "out of memory");
		http_tls_name_release(&route);
	}
	return copy(config, name, &config->access->tls_server_name);
}

static int read_server(struct kubeconfig *config, const yaml_node_t *cluster)
{
	const char *server = find_text(config, cluster, "server");
	size_t len = server ? strlen(server) : 0;

	while (len > 0 && server[len - 1] == '/')
		len--;
	if (!server || (strncmp(server, "https://", 8) != 0 && strncmp(server, "http://", 7) != 0))
		return fail_at(config, cluster, -EINVAL, "the cluster has no server https://…");
	if (http_url_has_user(server))
		return fail_at(config, find(config, cluster, "server"), -EOPNOTSUPP,
			       "a user in the server's address is not supported: use tokenFile or "
			       "a client certificate");
	config->access->server = strndup(server, len);
	return config->access->server ? 0 : diag_set(config->diag, -ENOMEM, "out of memory");
}

static int read_cluster(struct kubeconfig *config, const yaml_node_t *cluster)
{
	int r = refuse(config, cluster, "insecure-skip-tls-verify",
		       "the server is always verified; give its certificate-authority");

	if (r == 0)
		r = read_server(config, cluster);
	if (r == 0)
		r = read_proxy(config, cluster);
	if (r == 0)
		r = read_tls_name(config, cluster);
	if (r == 0)
		r = take_pem(config, cluster, "certificate-authority", &config->access->ca_file);
	return r;
}

static int refuse_users(struct kubeconfig *config, const yaml_node_t *user)
{
	static const char *const refused[][2] = {
		{ "exec", "credential programs (exec) are never run; use tokenFile or a client "
			  "certificate" },
		{ "auth-provider", "use tokenFile or a client certificate" },
		{ "username", "use tokenFile or a client certificate" },
		{ "password", "use tokenFile or a client certificate" },
		{ "as", "use the account's own credentials" },
		{ "as-uid", "use the account's own credentials" },
		{ "as-groups", "use the account's own credentials" },
		{ "as-user-extra", "use the account's own credentials" },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(refused); i++)
		r = refuse(config, user, refused[i][0], refused[i][1]);
	return r;
}

static int read_token(struct kubeconfig *config, const yaml_node_t *user)
{
	struct kube_access *access = config->access;
	const char *token = find_text(config, user, "token");
	const char *token_file = find_text(config, user, "tokenFile");

	if (!token_file)
		return token ? copy(config, token, &access->token) : 0;
	access->token_file_is_private = true;
	return take_path(config, token_file, &access->token_file);
}

/* Every file with a secret must be accessible to its owner only. */
static int check_secrets(struct kubeconfig *config, const yaml_node_t *user)
{
	const struct kube_access *access = config->access;
	int r = 0;

	/* A token that is unused because of a tokenFile is a secret all the same. */
	if (find_text(config, user, "token") || find_text(config, user, "client-key-data"))
		r = secret_file_check(config->path, config->diag);
	if (r == 0 && access->token_file)
		r = secret_file_check(access->token_file, config->diag);
	return r == 0 ? kube_access_check_key(access, config->diag) : r;
}

static int read_user(struct kubeconfig *config, const yaml_node_t *user)
{
	struct kube_access *access = config->access;
	int r = refuse_users(config, user);

	if (r == 0)
		r = read_token(config, user);
	if (r == 0)
		r = take_pem(config, user, "client-certificate", &access->client_cert_file);
	if (r == 0)
		r = take_pem(config, user, "client-key", &access->client_key_file);
	access->client_key_is_private =
		access->client_key_file && !find_text(config, user, "client-key-data");
	if (r == 0 && !access->client_cert_file != !access->client_key_file)
		r = fail_at(config, user, -EINVAL,
			    "client-certificate and client-key must be given together");
	return r == 0 ? check_secrets(config, user) : r;
}

static int read_context(struct kubeconfig *config, const char *name)
{
	const yaml_node_t *root = yaml_document_get_root_node(&config->document);
	const yaml_node_t *context, *cluster, *user;
	const char *cluster_name, *user_name;
	int r;

	if (!name)
		name = find_text(config, root, "current-context");
	if (!name)
		return fail_at(config, root, -EINVAL, "has no current-context");
	context = find_named(config, root, "contexts", "context", name);
	if (!context)
		return -EINVAL;
	cluster_name = find_text(config, context, "cluster");
	user_name = find_text(config, context, "user");
	if (!cluster_name)
		return fail_at(config, context, -EINVAL, "the context names no cluster");
	cluster = find_named(config, root, "clusters", "cluster", cluster_name);
	r = cluster ? read_cluster(config, cluster) : -EINVAL;
	if (r < 0 || !user_name)
		return r;
	user = find_named(config, root, "users", "user", user_name);
	return user ? read_user(config, user) : -EINVAL;
}

static int load(struct kubeconfig *config, const char *text, size_t len)
{
	yaml_parser_t parser;
	int r = 0;

	if (!yaml_parser_initialize(&parser))
		return diag_set(config->diag, -ENOMEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &config->document))
		r = diag_set(config->diag, -EINVAL, "%s:%zu: %s", config->path,
			     parser.problem_mark.line + 1,
			     parser.problem ? parser.problem : "not YAML");
	else
		config->loaded = true;
	yaml_parser_delete(&parser);
	return r;
}

int kube_access_from_kubeconfig(const char *path, const char *context, struct kube_access *ret,
				struct diag *diag)
{
	CLEANUP(kube_access_release) struct kube_access access = { 0 };
	CLEANUP(kubeconfig_release)
	struct kubeconfig config = { .path = path, .access = &access, .diag = diag };
	char *text = NULL;
	size_t len = 0;
	int r = read_file_alloc(path, KUBECONFIG_MAX, &text, &len);

	if (r < 0)
		return diag_set(diag, r, "%s: %s", path, strerror(-r));
	r = load(&config, text, len);
	explicit_bzero(text, len);
	free(text);
	if (r == 0)
		r = read_context(&config, context);
	if (r < 0)
		return r;
	*ret = access;
	kube_access_init(&access);
	return 0;
}
