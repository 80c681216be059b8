// SPDX-License-Identifier: Apache-2.0
/*
 * The text is read as a tree by libyaml, which has the position of each node. A mapping is a table
 * of its keys, each with the function that reads its value; keys that no table has, and keys that
 * stand twice, are errors. Rules that concern several keys are checked at the end of their mapping,
 * and name the position of the one that has to be changed.
 */
#include "net/web/web_config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "net/web/web_tls_names.h"

#define PATH_MAX_LEN 128
#define KEYS_MAX     16

struct reader {
	yaml_document_t document;
	bool loaded;
	const char *name;
	struct diag *diag;
	struct web_config *config;
	struct web_tls_choice choice;
	/* Where these stand, or NULL. */
	const yaml_node_t *tls, *auth_type, *ca, *sans, *suites, *interval, *burst;
};

typedef int read_value(struct reader *reader, const yaml_node_t *node, const char *path);

struct key {
	const char *name;
	read_value *read;
};

const char *const web_header_names[WEB_HEADER_COUNT] = {
	"Content-Security-Policy", "Strict-Transport-Security", "X-Content-Type-Options",
	"X-Frame-Options",         "X-XSS-Protection",
};

static void reader_release(struct reader *reader)
{
	if (reader->loaded)
		yaml_document_delete(&reader->document);
	web_config_free(reader->config);
}

static void free_pem(struct web_pem *pem)
{
	if (pem->text)
		explicit_bzero(pem->text, strlen(pem->text)); /* it may be the key */
	free(pem->text);
	free(pem->path);
}

void web_config_free(struct web_config *config)
{
	if (!config)
		return;
	free_pem(&config->cert);
	free_pem(&config->key);
	free_pem(&config->client_ca);
	for (size_t i = 0; i < config->san_count; i++)
		free(config->sans[i]);
	for (size_t i = 0; i < WEB_HEADER_COUNT; i++)
		free(config->headers[i]);
	for (size_t i = 0; i < config->user_count; i++) {
		free(config->users[i].name);
		free(config->users[i].hash);
	}
	free(config->sans);
	free(config->users);
	free(config->priority);
	free(config);
}

static int fail_at(const struct reader *reader, const yaml_node_t *node, const char *path,
		   const char *why)
{
	return diag_set(reader->diag, -EINVAL, "%s:%zu:%zu: %s%s%s", reader->name,
			node->start_mark.line + 1, node->start_mark.column + 1, path,
			*path ? ": " : "", why);
}

static int no_memory(const struct reader *reader)
{
	return diag_set(reader->diag, -ENOMEM, "out of memory");
}

static bool is_null(const yaml_node_t *node)
{
	const char *text = (const char *)node->data.scalar.value;

	return node->type == YAML_SCALAR_NODE &&
	       node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

/* The text of a scalar without NUL bytes, or NULL with a diagnosis. */
static const char *text_of(const struct reader *reader, const yaml_node_t *node, const char *path)
{
	const char *text = (const char *)node->data.scalar.value;

	if (node->type != YAML_SCALAR_NODE || is_null(node)) {
		(void)fail_at(reader, node, path, "must be a text; write one or remove the key");
		return NULL;
	}
	if (strlen(text) != node->data.scalar.length) {
		(void)fail_at(reader, node, path, "must not contain a NUL byte");
		return NULL;
	}
	return text;
}

static int read_text(struct reader *reader, const yaml_node_t *node, const char *path, char **ret)
{
	const char *text = text_of(reader, node, path);

	if (!text)
		return -EINVAL;
	if (!*text)
		return fail_at(reader, node, path, "must not be empty");
	free(*ret);
	*ret = strdup(text);
	return *ret ? 0 : no_memory(reader);
}

/* Relative paths begin in the folder of the file. */
static int read_path(struct reader *reader, const yaml_node_t *node, const char *path, char **ret)
{
	const char *slash = strrchr(reader->name, '/');
	char folder[4096] = "", whole[4096];
	CLEANUP_FREE char *text = NULL;
	int r = read_text(reader, node, path, &text);

	if (r < 0 || !text)
		return r;
	free(*ret);
	*ret = NULL;
	if (!slash || *text == '/') {
		*ret = TAKE_PTR(text);
		return 0;
	}
	r = snprintf(folder, sizeof(folder), "%.*s", (int)(slash - reader->name) + 1, reader->name);
	if (r >= (int)sizeof(folder) || path_join(whole, sizeof(whole), folder, text) < 0)
		return fail_at(reader, node, path, "the path is too long");
	*ret = strdup(whole);
	return *ret ? 0 : no_memory(reader);
}

static int read_bool(struct reader *reader, const yaml_node_t *node, const char *path, bool *ret)
{
	const char *text = text_of(reader, node, path);

	if (!text)
		return -EINVAL;
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return fail_at(reader, node, path, "must be true or false");
	*ret = *text == 't';
	return 0;
}

/* Terminates @buf, which has what a message can show of the key. */
static void join_path(char buf[static PATH_MAX_LEN], const char *path, const char *key)
{
	int n = snprintf(buf, PATH_MAX_LEN, "%s%s%.60s", path, *path ? "." : "", key);

	for (int i = 0; i < n && i < PATH_MAX_LEN - 1; i++)
		buf[i] = (char)(buf[i] < ' ' || buf[i] > '~' ? '?' : buf[i]);
}

static int fail_unknown(const struct reader *reader, const yaml_node_t *node, const char *path,
			const struct key *keys)
{
	char why[DIAG_TEXT_MAX / 2] = "there is no such key here; the keys are";
	size_t len = strlen(why);

	for (const struct key *key = keys; key->name && len < sizeof(why); key++)
		len += (size_t)snprintf(why + len, sizeof(why) - len, "%s %s",
					key == keys ? "" : ",", key->name);
	return fail_at(reader, node, path, why);
}

static int read_pair(struct reader *reader, const yaml_node_pair_t *pair, const char *path,
		     const struct key *keys, bool seen[static KEYS_MAX])
{
	const yaml_node_t *key = yaml_document_get_node(&reader->document, pair->key);
	const yaml_node_t *value = yaml_document_get_node(&reader->document, pair->value);
	const char *name = text_of(reader, key, path);
	char whole[PATH_MAX_LEN];

	if (!name)
		return -EINVAL;
	join_path(whole, path, name);
	for (size_t i = 0; keys[i].name; i++) {
		if (strcmp(keys[i].name, name) != 0)
			continue;
		if (seen[i])
			return fail_at(reader, key, whole, "is set twice");
		seen[i] = true;
		return keys[i].read(reader, value, whole);
	}
	return fail_unknown(reader, key, whole, keys);
}

static int read_map(struct reader *reader, const yaml_node_t *node, const char *path,
		    const struct key *keys)
{
	bool seen[KEYS_MAX] = { false };
	int r = 0;

	if (is_null(node))
		return 0; /* all of its keys are commented out */
	if (node->type != YAML_MAPPING_NODE)
		return fail_at(reader, node, path, "must be a mapping of keys to values");
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top && r == 0; pair++)
		r = read_pair(reader, pair, path, keys, seen);
	return r;
}

/* Calls @read for each item of a list of at most @max. */
static int read_list(struct reader *reader, const yaml_node_t *node, const char *path, size_t max,
		     read_value *read)
{
	int r = 0;

	if (is_null(node))
		return 0;
	if (node->type != YAML_SEQUENCE_NODE)
		return fail_at(reader, node, path, "must be a list");
	if ((size_t)(node->data.sequence.items.top - node->data.sequence.items.start) > max)
		return fail_at(reader, node, path, "has too many items");
	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top && r == 0; item++)
		r = read(reader, yaml_document_get_node(&reader->document, *item), path);
	return r;
}

/* --- tls_server_config --- */

static int read_pem(struct reader *reader, const yaml_node_t *node, const char *path,
		    struct web_pem *pem)
{
	pem->line = node->start_mark.line + 1;
	pem->column = node->start_mark.column + 1;
	return read_text(reader, node, path, &pem->text);
}

static int read_pem_path(struct reader *reader, const yaml_node_t *node, const char *path,
			 struct web_pem *pem)
{
	pem->line = node->start_mark.line + 1;
	pem->column = node->start_mark.column + 1;
	return read_path(reader, node, path, &pem->path);
}

static int read_cert(struct reader *reader, const yaml_node_t *node, const char *path)
{
	return read_pem(reader, node, path, &reader->config->cert);
}

static int read_key(struct reader *reader, const yaml_node_t *node, const char *path)
{
	return read_pem(reader, node, path, &reader->config->key);
}

static int read_client_ca(struct reader *reader, const yaml_node_t *node, const char *path)
{
	reader->ca = node;
	return read_pem(reader, node, path, &reader->config->client_ca);
}

static int read_cert_file(struct reader *reader, const yaml_node_t *node, const char *path)
{
	return read_pem_path(reader, node, path, &reader->config->cert);
}

static int read_key_file(struct reader *reader, const yaml_node_t *node, const char *path)
{
	return read_pem_path(reader, node, path, &reader->config->key);
}

static int read_client_ca_file(struct reader *reader, const yaml_node_t *node, const char *path)
{
	reader->ca = node;
	return read_pem_path(reader, node, path, &reader->config->client_ca);
}

static int read_auth_type(struct reader *reader, const yaml_node_t *node, const char *path)
{
	static const struct {
		const char *name;
		enum web_client_auth auth;
	} types[] = {
		{ "NoClientCert", WEB_CLIENT_NONE },
		{ "RequestClientCert", WEB_CLIENT_REQUEST },
		{ "RequireClientCert", WEB_CLIENT_ANY }, /* the old name */
		{ "RequireAnyClientCert", WEB_CLIENT_ANY },
		{ "VerifyClientCertIfGiven", WEB_CLIENT_VERIFY_GIVEN },
		{ "RequireAndVerifyClientCert", WEB_CLIENT_VERIFY },
	};
	const char *text = text_of(reader, node, path);

	if (!text)
		return -EINVAL;
	reader->auth_type = node;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].name, text) == 0) {
			reader->config->client_auth = types[i].auth;
			return 0;
		}
	}
	return fail_at(reader, node, path,
		       *text ? "must be NoClientCert, RequestClientCert, RequireAnyClientCert, "
			       "VerifyClientCertIfGiven or RequireAndVerifyClientCert"
			     : "must not be empty");
}

static int read_san(struct reader *reader, const yaml_node_t *node, const char *path)
{
	struct web_config *config = reader->config;
	char *san = NULL;
	int r = read_text(reader, node, path, &san);

	if (r < 0)
		return r;
	config->sans[config->san_count++] = san;
	return 0;
}

static int read_sans(struct reader *reader, const yaml_node_t *node, const char *path)
{
	reader->config->sans = calloc(WEB_SANS_MAX, sizeof(*reader->config->sans));
	if (!reader->config->sans)
		return no_memory(reader);
	reader->sans = node;
	return read_list(reader, node, path, WEB_SANS_MAX, read_san);
}

static int read_version(struct reader *reader, const yaml_node_t *node, const char *path,
			unsigned *ret)
{
	const char *text = text_of(reader, node, path);

	if (!text)
		return -EINVAL;
	if (strcmp(text, "TLS12") == 0 || strcmp(text, "TLS13") == 0) {
		*ret = text[4] == '2' ? 12 : 13;
		return 0;
	}
	if (strcmp(text, "TLS10") == 0 || strcmp(text, "TLS11") == 0)
		return fail_at(reader, node, path,
			       "TLS 1.0 and 1.1 are broken (RFC 8996) and not offered; use TLS12 "
			       "or TLS13");
	return fail_at(reader, node, path, "must be TLS12 or TLS13");
}

static int read_min_version(struct reader *reader, const yaml_node_t *node, const char *path)
{
	return read_version(reader, node, path, &reader->choice.min_version);
}

static int read_max_version(struct reader *reader, const yaml_node_t *node, const char *path)
{
	return read_version(reader, node, path, &reader->choice.max_version);
}

static int read_suite(struct reader *reader, const yaml_node_t *node, const char *path)
{
	const char *text = text_of(reader, node, path);
	struct diag why = { "" };
	int suite = text ? web_tls_suite(text, &why) : -EINVAL;

	if (!text)
		return -EINVAL;
	if (suite < 0)
		return fail_at(reader, node, path, why.text);
	reader->choice.suites[reader->choice.suite_count++] = suite;
	return 0;
}

static int read_suites(struct reader *reader, const yaml_node_t *node, const char *path)
{
	reader->suites = node;
	return read_list(reader, node, path, WEB_TLS_SUITES_MAX, read_suite);
}

static int read_curve(struct reader *reader, const yaml_node_t *node, const char *path)
{
	const char *text = text_of(reader, node, path);
	struct diag why = { "" };
	int curve = text ? web_tls_curve(text, &why) : -EINVAL;

	if (!text)
		return -EINVAL;
	if (curve < 0)
		return fail_at(reader, node, path, why.text);
	reader->choice.curves[reader->choice.curve_count++] = curve;
	return 0;
}

static int read_curves(struct reader *reader, const yaml_node_t *node, const char *path)
{
	return read_list(reader, node, path, WEB_TLS_CURVES_MAX, read_curve);
}

static int read_precedence(struct reader *reader, const yaml_node_t *node, const char *path)
{
	bool server = true;
	int r = read_bool(reader, node, path, &server);

	reader->choice.client_precedence = !server;
	return r;
}

static int check_pem(const struct reader *reader, const struct web_pem *pem, const char *key)
{
	char why[160];

	if (pem->text && pem->path)
		(void)snprintf(why, sizeof(why), "%s and %s_file are both set; remove one", key,
			       key);
	else if (!pem->text && !pem->path)
		(void)snprintf(why, sizeof(why), "%s_file is missing; TLS needs it (or %s, inline)",
			       key, key);
	else
		return 0;
	return fail_at(reader, reader->tls, "tls_server_config", why);
}

/* A rule for certificates of clients that checks nothing is a mistake. */
static int check_client_auth(const struct reader *reader)
{
	const struct web_config *config = reader->config;
	bool verifies = config->client_auth == WEB_CLIENT_VERIFY ||
			config->client_auth == WEB_CLIENT_VERIFY_GIVEN;

	if (reader->ca && config->client_ca.text && config->client_ca.path)
		return check_pem(reader, &config->client_ca, "client_ca");
	if (reader->ca && config->client_auth == WEB_CLIENT_NONE)
		return fail_at(reader, reader->ca, "tls_server_config.client_ca_file",
			       "is not used without client_auth_type; set it to "
			       "RequireAndVerifyClientCert");
	if (verifies && !reader->ca)
		return fail_at(reader, reader->auth_type, "tls_server_config.client_auth_type",
			       "needs client_ca_file, with the authority of the clients' "
			       "certificates");
	if (config->san_count && !verifies)
		return fail_at(reader, reader->sans, "tls_server_config.client_allowed_sans",
			       "needs client_auth_type: RequireAndVerifyClientCert; the names in a "
			       "certificate that is not verified prove nothing");
	return 0;
}

static int check_tls(struct reader *reader)
{
	struct web_config *config = reader->config;
	struct web_tls_choice *choice = &reader->choice;
	struct diag why = { "" };
	int r = check_pem(reader, &config->cert, "cert");

	if (r == 0)
		r = check_pem(reader, &config->key, "key");
	if (r == 0)
		r = check_client_auth(reader);
	if (r < 0)
		return r;
	if (choice->min_version > choice->max_version)
		return fail_at(reader, reader->tls, "tls_server_config",
			       "min_version is above max_version");
	r = web_tls_priority(choice, &config->priority, &why);
	if (r == -ENOMEM)
		return no_memory(reader);
	return r < 0 ? fail_at(reader, reader->suites, "tls_server_config.cipher_suites", why.text)
		     : 0;
}

static int read_tls(struct reader *reader, const yaml_node_t *node, const char *path)
{
	static const struct key keys[] = {
		{ "cert_file", read_cert_file },
		{ "key_file", read_key_file },
		{ "client_ca_file", read_client_ca_file },
		{ "cert", read_cert },
		{ "key", read_key },
		{ "client_ca", read_client_ca },
		{ "client_auth_type", read_auth_type },
		{ "client_allowed_sans", read_sans },
		{ "min_version", read_min_version },
		{ "max_version", read_max_version },
		{ "cipher_suites", read_suites },
		{ "prefer_server_cipher_suites", read_precedence },
		{ "curve_preferences", read_curves },
		{ 0 },
	};
	int r = read_map(reader, node, path, keys);

	if (r < 0 || is_null(node))
		return r;
	reader->tls = node;
	reader->config->has_tls = true;
	return check_tls(reader);
}

/* --- http_server_config --- */

static int read_http2(struct reader *reader, const yaml_node_t *node, const char *path)
{
	return read_bool(reader, node, path, &reader->config->asks_http2);
}

/* It becomes a line of a header, so that it must not end that line. */
static bool is_header_value(const char *text)
{
	for (const char *at = text; *at; at++) {
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return false;
	}
	return true;
}

static int read_header(struct reader *reader, const yaml_node_t *node, const char *path)
{
	static const char *const allowed[WEB_HEADER_COUNT][2] = {
		[2] = { "nosniff", "nosniff" },
		[3] = { "deny", "sameorigin" },
	};
	static const char *const why[WEB_HEADER_COUNT] = {
		[2] = "must be nosniff",
		[3] = "must be deny or sameorigin",
	};
	const char *name = strrchr(path, '.') + 1;
	size_t index = 0;
	const char *value;
	int r;

	while (strcmp(web_header_names[index], name) != 0)
		index++; /* read_pair() has found the name in the table */
	r = read_text(reader, node, path, &reader->config->headers[index]);
	if (r < 0)
		return r;
	value = reader->config->headers[index];
	if (allowed[index][0] && strcmp(allowed[index][0], value) != 0 &&
	    strcmp(allowed[index][1], value) != 0)
		return fail_at(reader, node, path, why[index]);
	if (!is_header_value(value))
		return fail_at(reader, node, path, "must not contain control characters");
	return 0;
}

static int read_headers(struct reader *reader, const yaml_node_t *node, const char *path)
{
	struct key keys[WEB_HEADER_COUNT + 1] = { { 0 } };

	for (size_t i = 0; i < WEB_HEADER_COUNT; i++)
		keys[i] = (struct key){ web_header_names[i], read_header };
	return read_map(reader, node, path, keys);
}

static int read_http(struct reader *reader, const yaml_node_t *node, const char *path)
{
	static const struct key keys[] = {
		{ "http2", read_http2 },
		{ "headers", read_headers },
		{ 0 },
	};

	return read_map(reader, node, path, keys);
}

/* --- basic_auth_users --- */

/* The cost in a bcrypt hash; 0: @hash is not one. */
static unsigned cost_of(const char *hash)
{
	static const char digits[] =
		"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

	if (strlen(hash) != WEB_BCRYPT_LEN || strncmp(hash, "$2", 2) != 0 ||
	    !strchr("aby", hash[2]) || hash[3] != '$' || hash[6] != '$' ||
	    strspn(hash + 7, digits) != WEB_BCRYPT_LEN - 7 || hash[4] < '0' || hash[4] > '9' ||
	    hash[5] < '0' || hash[5] > '9')
		return 0;
	return (unsigned)(hash[4] - '0') * 10 + (unsigned)(hash[5] - '0');
}

/* A name ends at the first colon of the credentials (RFC 7617 §2). */
static bool is_user_name(const char *name)
{
	return *name && !strchr(name, ':') && is_header_value(name);
}

static int check_hash(const struct reader *reader, const yaml_node_t *node, const char *path,
		      const char *hash)
{
	unsigned cost = cost_of(hash);
	char why[128];

	if (cost >= 4 && cost <= WEB_COST_MAX)
		return 0;
	if (cost > WEB_COST_MAX && cost <= 31)
		(void)snprintf(why, sizeof(why),
			       "the hash has the cost %u, which takes too long to compare; at most "
			       "%d can be used",
			       cost, WEB_COST_MAX);
	else
		(void)snprintf(why, sizeof(why),
			       "must be a bcrypt hash ($2a$, $2b$ or $2y$) of the password, as "
			       "\"htpasswd -nBC 10 USER\" prints it");
	return fail_at(reader, node, path, why);
}

static int read_user(struct reader *reader, const yaml_node_pair_t *pair, const char *path)
{
	const yaml_node_t *key = yaml_document_get_node(&reader->document, pair->key);
	const yaml_node_t *value = yaml_document_get_node(&reader->document, pair->value);
	struct web_config *config = reader->config;
	const char *name = text_of(reader, key, path), *hash;
	struct web_user *user = &config->users[config->user_count];
	char whole[PATH_MAX_LEN];
	int r;

	if (!name)
		return -EINVAL;
	join_path(whole, path, name);
	if (!is_user_name(name))
		return fail_at(reader, key, whole,
			       "a name must not be empty, and have neither a colon nor control "
			       "characters");
	for (size_t i = 0; i < config->user_count; i++) {
		if (strcmp(config->users[i].name, name) == 0)
			return fail_at(reader, key, whole, "is set twice");
	}
	hash = text_of(reader, value, whole);
	r = hash ? check_hash(reader, value, whole, hash) : -EINVAL;
	if (r < 0)
		return r;
	*user = (struct web_user){ strdup(name), strdup(hash) };
	config->user_count++;
	if (cost_of(hash) > config->max_cost)
		config->max_cost = cost_of(hash);
	return user->name && user->hash ? 0 : no_memory(reader);
}

static int compare_users(const void *left, const void *right)
{
	return strcmp(((const struct web_user *)left)->name,
		      ((const struct web_user *)right)->name);
}

static int read_users(struct reader *reader, const yaml_node_t *node, const char *path)
{
	struct web_config *config = reader->config;
	size_t count;
	int r = 0;

	/* A file that is half written must not open everything. */
	if (is_null(node))
		return fail_at(reader, node, path,
			       "has no user, so nothing would be asked for; remove the key");
	if (node->type != YAML_MAPPING_NODE)
		return fail_at(reader, node, path, "must be a mapping of names to bcrypt hashes");
	count = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
	if (count == 0 || count > WEB_USERS_MAX)
		return fail_at(
			reader, node, path,
			count ? "has too many users (the limit is 1024)"
			      : "has no user, so nothing would be asked for; remove the key");
	if (ARRAY_RESIZE(config->users, count) < 0)
		return no_memory(reader);
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top && r == 0; pair++)
		r = read_user(reader, pair, path);
	if (r == 0)
		qsort(config->users, config->user_count, sizeof(*config->users), compare_users);
	return r;
}

/* --- rate_limit --- */

static int read_interval(struct reader *reader, const yaml_node_t *node, const char *path)
{
	const char *text = text_of(reader, node, path);

	if (!text)
		return -EINVAL;
	reader->interval = node;
	if (strcmp(text, "0") != 0 &&
	    parse_duration_ns(text, &reader->config->rate_interval_ns) < 0)
		return fail_at(reader, node, path,
			       "must be a duration, such as 100ms or 1s: the time from one request "
			       "to the next; 0 for no limit");
	return 0;
}

static int read_burst(struct reader *reader, const yaml_node_t *node, const char *path)
{
	const char *text = text_of(reader, node, path);
	uint64_t burst;

	if (!text)
		return -EINVAL;
	if (parse_u64(text, strlen(text), &burst) < 0 || burst > 1000000)
		return fail_at(reader, node, path, "must be a number from 1 to 1000000");
	reader->burst = node;
	reader->config->rate_burst = (uint32_t)burst;
	return 0;
}

static int read_rate(struct reader *reader, const yaml_node_t *node, const char *path)
{
	static const struct key keys[] = {
		{ "interval", read_interval },
		{ "burst", read_burst },
		{ 0 },
	};
	int r = read_map(reader, node, path, keys);

	if (r == 0 && reader->config->rate_interval_ns && !reader->config->rate_burst)
		r = fail_at(reader, reader->burst ? reader->burst : reader->interval, path,
			    "burst must be 1 or more, or no request is ever answered");
	return r;
}

static int load_document(struct reader *reader, const char *text, size_t len)
{
	yaml_parser_t parser;
	int r = 0;

	if (!yaml_parser_initialize(&parser))
		return no_memory(reader);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (yaml_parser_load(&parser, &reader->document))
		reader->loaded = true;
	else if (parser.error == YAML_MEMORY_ERROR)
		r = no_memory(reader);
	else
		r = diag_set(reader->diag, -EINVAL, "%s:%zu:%zu: is not YAML: %s", reader->name,
			     parser.problem_mark.line + 1, parser.problem_mark.column + 1,
			     parser.problem ? parser.problem : "");
	yaml_parser_delete(&parser);
	return r;
}

int web_config_parse(const char *name, const char *text, size_t len, struct web_config **ret,
		     struct diag *diag)
{
	static const struct key keys[] = {
		{ "tls_server_config", read_tls },
		{ "http_server_config", read_http },
		{ "basic_auth_users", read_users },
		{ "rate_limit", read_rate },
		{ 0 },
	};
	CLEANUP(reader_release)
	struct reader reader = {
		.name = name,
		.diag = diag,
		.choice = { .min_version = 12, .max_version = 13 },
		.config = calloc(1, sizeof(*reader.config)),
	};
	const yaml_node_t *root;
	int r;

	if (!reader.config)
		return no_memory(&reader);
	r = load_document(&reader, text, len);
	if (r < 0)
		return r;
	root = yaml_document_get_root_node(&reader.document);
	if (!root || is_null(root) ||
	    (root->type == YAML_MAPPING_NODE &&
	     root->data.mapping.pairs.start == root->data.mapping.pairs.top))
		return diag_set(diag, -EINVAL,
				"%s:1:1: has no key, so it would protect nothing; if it was cut "
				"short, write it again, or else do not name it",
				name);
	r = read_map(&reader, root, "", keys);
	if (r == 0)
		*ret = TAKE_PTR(reader.config);
	return r;
}
