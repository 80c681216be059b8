// SPDX-License-Identifier: Apache-2.0
#include "modelling/web_options.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/secret_file.h"
#include "net/http_listen.h"

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
	  .help = "Mode of a unix socket, in octal; write permission allows a process to "
		  "connect." },
	{ "web.allowed-hosts", NULL, OPTION_STRINGS, LIST(allowed_hosts, WEB_HOSTS_MAX),
	  .default_text = "", .metavar = "NAME", .check = http_host_check_name,
	  .help = "Names accepted in the Host header of a request, in addition to addresses, names "
		  "without a dot, *.svc, *.cluster.local and, if the server listens beyond the "
		  "loopback interface, HOST.* for this machine's host name. Values: NAME, *.NAME "
		  "for all names below it, or * for any." },
	{ "web.max-connections", NULL, OPTION_U32, OWN(max_connections), .min = 4, .max = 10000,
	  .default_text = "512", .metavar = "N", .help = "Limit on simultaneous connections." },
	{ "web.tls-certificate", NULL, OPTION_STRING, OWN(certificate), .default_text = "",
	  .metavar = "FILE", .may_be_empty = true,
	  .help = "The server's certificate chain (PEM). With it, all addresses use TLS 1.2 or "
		  "1.3." },
	{ "web.tls-key", NULL, OPTION_STRING, OWN(key), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true,
	  .help = "The certificate's private key (PEM), readable only by its owner." },
};

int web_options_check(const struct web_values *values, struct diag *diag)
{
	if (!*values->certificate != !*values->key)
		return diag_set(diag, -EINVAL,
				"web.tls-certificate, web.tls-key: must be given together");
	return 0;
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

int web_options_start(const struct web_values *values, const struct http_options *options,
		      struct http_server **ret, struct diag *diag)
{
	CLEANUP_FREE char *certificate = NULL;
	CLEANUP_FREE char *key = NULL;
	struct http_options all = *options;
	static struct http_own_names own; /* lives as long as the server */
	char host[HOST_NAME_MAX + 1] = "";
	int r = http_unix_parse_mode(values->socket_mode, &all.socket_mode, diag);

	if (r == 0 && *values->certificate)
		r = web_options_read_pem(values->certificate, false, &certificate, diag);
	if (r == 0 && *values->key)
		r = web_options_read_pem(values->key, true, &key, diag);
	if (r < 0)
		return r;
	if (gethostname(host, sizeof(host)) == 0)
		http_own_names_add_host(&own, host);
	all.max_connections = values->max_connections;
	all.hosts = (struct http_hosts){ (const char *const *)values->allowed_hosts,
					 values->allowed_hosts_count, &own };
	all.tls_certificate = certificate;
	all.tls_key = key;
	return http_server_start(&all, ret, diag);
}

void web_options_say_addresses(const struct web_values *values, const struct http_server *server)
{
	char address[128];

	for (size_t i = 0; http_server_address(server, i, address, sizeof(address)) == 0; i++)
		log_info("listening on %s%s", address, *values->certificate ? " with TLS" : "");
}
