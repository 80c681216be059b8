// SPDX-License-Identifier: Apache-2.0
#include "net/server/web_options.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/secret_file.h"
#include "net/server/crypt_library.h"
#include "net/server/http_listen.h"

#define PEM_MAX     (1U << 20)

#define OWN(member) .offset = offsetof(struct web_values, member)
#define LIST(member, max)                                                                          \
	.offset = offsetof(struct web_values, member),                                             \
	.count_offset = offsetof(struct web_values, member##_count), .list_max = (max)

static int check_mode(const char *text, struct diag *diag)
{
	mode_t mode;

	return http_unix_parse_mode(text, &mode, diag);
}

const struct option web_rows_of_options[WEB_OPTION_COUNT] = {
	{ "web.socket-mode", NULL, OPTION_STRING, OWN(socket_mode), .default_text = "0660",
	  .metavar = "MODE", .check = check_mode,
	  .help = "Mode of a Unix socket, in octal; write permission allows a process to connect. "
		  "Its group is the program's group, or the group of its directory if the "
		  "directory has the setgid bit." },
	{ "web.allowed-hosts", NULL, OPTION_STRINGS, LIST(allowed_hosts, WEB_HOSTS_MAX),
	  .default_text = "", .metavar = "NAME", .check = http_host_check_name,
	  .help = "Names accepted in the Host header of a request, in addition to addresses, names "
		  "without a dot, the names of this machine, *.svc and *.cluster.local. If the "
		  "server listens beyond the loopback interface, also HOST.* for the names of this "
		  "machine. NAME, *.NAME for all names below it, or * for any. Other requests get "
		  "the status 421, so that no web page can read the server through its own domain "
		  "name (DNS rebinding)." },
	{ "web.tls-certificate", NULL, OPTION_STRING, OWN(certificate), .default_text = "",
	  .metavar = "FILE", .may_be_empty = true,
	  .help = "The server's certificate chain (PEM), read at the start. With it, all addresses "
		  "use TLS 1.2 or 1.3." },
	{ "web.tls-key", NULL, OPTION_STRING, OWN(key), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true,
	  .help = "The certificate's private key (PEM), readable only by its owner." },
	{ "web.token-file", NULL, OPTION_STRING, OWN(token_file), .default_text = "",
	  .metavar = "FILE", .may_be_empty = true,
	  .help = "File with one token per line, readable only by its owner. With it, every "
		  "request "
		  "must send one of the tokens (Authorization: Bearer TOKEN), except for health "
		  "checks (/healthz and /readyz). SIGHUP makes the server read the file again." },
	{ "web.config-file", "web.configFile", OPTION_STRING, OWN(config_file), .default_text = "",
	  .metavar = "FILE", .may_be_empty = true, .also = "web.config.file",
	  .help = "File in the format of Prometheus' exporters (--web.config.file): TLS with "
		  "certificates of clients, users with bcrypt passwords, headers, a limit on "
		  "requests. SIGHUP makes the server read it again." },
};

int web_options_check(const struct web_values *values, struct diag *diag)
{
	if (!*values->certificate != !*values->key)
		return diag_set(diag, -EINVAL,
				"web.tls-certificate, web.tls-key: must be given together");
	return 0;
}

/* Both would say the same; which of them was meant cannot be known. */
static int check_overlap(const struct web_values *values, const struct web_security *security,
			 struct diag *diag)
{
	if (security->tls && *values->certificate)
		return diag_set(diag, -EINVAL,
				"web.tls-certificate: %.200s has a tls_server_config as well; "
				"remove one of them",
				values->config_file);
	return 0;
}

int web_options_open_security(const struct web_values *values, struct web_security **ret,
			      struct diag *diag)
{
	struct web_security *security = NULL;
	int r = *values->config_file ? web_security_open(values->config_file, &security, diag) : 0;

	if (r == 0 && security)
		r = check_overlap(values, security, diag);
	if (r < 0)
		web_security_unref(security);
	else
		*ret = security;
	return r;
}

int web_options_read_pem(const char *path, bool secret, char **ret, struct diag *diag)
{
	size_t len = 0;
	int r = secret ? secret_file_check(path, diag) : 0;

	if (r < 0)
		return r;
	r = read_file_alloc(path, PEM_MAX, ret, &len);
	return r < 0 ? diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r)) : 0;
}

/* The names of a server that has none of its own. */
static struct http_hosts names_of_host(const struct web_values *values)
{
	static struct http_own_names own; /* lives as long as the server */
	char host[HOST_NAME_MAX + 1] = "";

	if (gethostname(host, sizeof(host)) == 0)
		http_own_names_add_host(&own, host);
	return (struct http_hosts){ (const char *const *)values->allowed_hosts,
				    values->allowed_hosts_count, &own };
}

/* Users may come later, when a program that has confined itself can load no library any more. */
static int load_crypt(const struct web_values *values, const struct web_security *security,
		      struct diag *diag)
{
	struct diag why = { "" };
	int r = crypt_library_load(&why);

	if (r < 0 && security->config->user_count)
		return diag_set(diag, r, "%s: basic_auth_users: %s", values->config_file, why.text);
	return 0;
}

int web_options_apply(const struct web_values *values, struct http_options *options,
		      struct diag *diag)
{
	CLEANUP_FREE char *certificate = NULL;
	CLEANUP_FREE char *key = NULL;
	int r = http_unix_parse_mode(values->socket_mode, &options->socket_mode, diag);

	if (r == 0 && *values->certificate)
		r = web_options_read_pem(values->certificate, false, &certificate, diag);
	if (r == 0 && *values->key)
		r = web_options_read_pem(values->key, true, &key, diag);
	if (r == 0 && *values->token_file && !options->auth)
		r = http_auth_open(values->token_file, &options->auth, diag);
	if (r == 0 && !options->security)
		r = web_options_open_security(values, &options->security, diag);
	if (r == 0 && options->security)
		r = load_crypt(values, options->security, diag);
	if (r < 0)
		return r;
	options->listen = (const char *const *)values->listen;
	options->listen_count = values->listen_count;
	options->max_connections = values->max_connections;
	if (!options->hosts.own)
		options->hosts = names_of_host(values);
	options->tls_certificate = TAKE_PTR(certificate);
	options->tls_key = TAKE_PTR(key);
	return 0;
}

void web_options_release(struct http_options *options)
{
	free((char *)(uintptr_t)options->tls_certificate);
	free((char *)(uintptr_t)options->tls_key);
	options->tls_certificate = options->tls_key = NULL;
}

int web_options_start(const struct web_values *values, const struct http_options *options,
		      struct http_server **ret, struct diag *diag)
{
	struct http_options all = *options;
	int r = web_options_apply(values, &all, diag);

	if (r == 0)
		r = http_server_start(&all, ret, diag);
	if (r == 0 && all.security && all.security->remark[0])
		log_warn("%s: %s", values->config_file, all.security->remark);
	if (r < 0) {
		http_auth_free(all.auth);
		web_security_unref(all.security);
	}
	web_options_release(&all);
	return r;
}

int web_options_reload(const struct web_values *values, struct http_server *server,
		       struct diag *diag)
{
	struct web_security *security = NULL;
	struct http_auth *auth = NULL;
	int r = *values->token_file ? http_auth_open(values->token_file, &auth, diag) : 0;

	if (r == 0)
		r = web_options_open_security(values, &security, diag);
	if (r == 0 && security)
		r = http_server_set_security(server, security, diag);
	if (r < 0) {
		web_security_unref(security);
		http_auth_free(auth);
		return r;
	}
	if (auth)
		http_server_set_auth(server, auth);
	return 0;
}

void web_options_say_addresses(const struct http_server *server)
{
	char address[128];

	for (size_t i = 0; http_server_address(server, i, address, sizeof(address)) == 0; i++)
		log_info("listening on %s%s", address,
			 http_server_has_tls(server) ? " with TLS" : "");
}
