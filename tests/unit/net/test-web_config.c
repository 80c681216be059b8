// SPDX-License-Identifier: Apache-2.0
#include "net/web/web_config.h"

#include "net/server/http_rate.h"
#include "tests/unit/unit.h"

#define HASH "$2y$10$abcdefghijklmnopqrstuuD7glF7JkEDexTpZG9m5tiAZ7VOyjUiO"
#define TLS  "tls_server_config:\n  cert_file: a.crt\n  key_file: /keys/a.key\n"

static struct web_config *parsed(const char *text)
{
	struct web_config *config = NULL;
	struct diag diag = { "" };

	if (web_config_parse("/etc/kepler/web.yml", text, strlen(text), &config, &diag) < 0)
		fail_msg("%s", diag.text);
	return config;
}

static void assert_refused(const char *text, const char *why)
{
	struct web_config *config = NULL;
	struct diag diag = { "" };
	int r = web_config_parse("w", text, strlen(text), &config, &diag);

	assert_int_equal(r, -EINVAL);
	assert_null(config);
	if (!strstr(diag.text, why))
		fail_msg("%s\nis refused because of: %s\nnot: %s", text, diag.text, why);
}

static void all_of_the_format(void **state)
{
	struct web_config *config = parsed(
		TLS
		"  client_ca_file: ca/clients.crt\n  client_auth_type: VerifyClientCertIfGiven\n"
		"  client_allowed_sans:\n  - prometheus.example.org\n  - 192.0.2.7\n"
		"  min_version: TLS13\n  max_version: TLS13\n"
		"  prefer_server_cipher_suites: false\n  curve_preferences: [X25519, CurveP256]\n"
		"http_server_config:\n  http2: false\n  headers:\n"
		"    X-Frame-Options: sameorigin\n    Strict-Transport-Security: max-age=31536000\n"
		"basic_auth_users:\n  zoe: '" HASH "'\n  alice: " HASH "\n"
		"rate_limit:\n  interval: 100ms\n  burst: 20\n");

	assert_true(config->has_tls);
	assert_false(config->asks_http2);
	assert_string_equal(config->cert.path, "/etc/kepler/a.crt");
	assert_string_equal(config->key.path, "/keys/a.key");
	assert_string_equal(config->client_ca.path, "/etc/kepler/ca/clients.crt");
	assert_int_equal(config->cert.line, 2);
	assert_int_equal(config->cert.column, 14);
	assert_int_equal(config->client_auth, WEB_CLIENT_VERIFY_GIVEN);
	assert_int_equal(config->san_count, 2);
	assert_string_equal(config->sans[1], "192.0.2.7");
	assert_string_equal(config->priority, "NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL"
					      ":+GROUP-X25519:+GROUP-SECP256R1");
	assert_string_equal(config->headers[3], "sameorigin");
	assert_string_equal(config->headers[1], "max-age=31536000");
	assert_null(config->headers[0]);
	assert_int_equal(config->user_count, 2);
	assert_string_equal(config->users[0].name, "alice");
	assert_string_equal(config->users[1].hash, HASH);
	assert_int_equal(config->max_cost, 10);
	assert_int_equal(config->rate_interval_ns, 100000000);
	assert_int_equal(config->rate_burst, 20);
	web_config_free(config);
}

static void what_is_left_out_has_the_formats_defaults(void **state)
{
	struct web_config *config = parsed(TLS "http_server_config:\n");

	assert_string_equal(config->priority, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
					      ":%SERVER_PRECEDENCE");
	assert_int_equal(config->client_auth, WEB_CLIENT_NONE);
	assert_int_equal(config->user_count, 0);
	assert_int_equal(config->rate_interval_ns, 0);
	web_config_free(config);
	config = parsed("tls_server_config: # nothing yet\nbasic_auth_users: {a: " HASH "}\n");
	assert_false(config->has_tls);
	web_config_free(config);
}

static void all_client_auth_types(void **state)
{
	static const struct {
		const char *name;
		enum web_client_auth auth;
	} types[] = {
		{ "RequestClientCert", WEB_CLIENT_REQUEST },
		{ "RequireClientCert", WEB_CLIENT_ANY },
		{ "RequireAnyClientCert", WEB_CLIENT_ANY },
		{ "VerifyClientCertIfGiven", WEB_CLIENT_VERIFY_GIVEN },
		{ "RequireAndVerifyClientCert", WEB_CLIENT_VERIFY },
	};
	char text[512];

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct web_config *config;

		(void)snprintf(text, sizeof(text),
			       TLS "  client_ca_file: ca\n  client_auth_type: %s\n", types[i].name);
		config = parsed(text);
		assert_int_equal(config->client_auth, types[i].auth);
		web_config_free(config);
	}
}

static void suites_become_priorities(void **state)
{
	struct web_config *config =
		parsed(TLS "  cipher_suites:\n  - TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384\n"
			   "  - TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256\n");

	assert_string_equal(config->priority,
			    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-RSA"
			    ":-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:-MAC-ALL:+AEAD"
			    ":%SERVER_PRECEDENCE");
	web_config_free(config);
	config = parsed(TLS "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]\n");
	assert_null(strstr(config->priority, "TLS1.3")); /* it has no such cipher */
	web_config_free(config);
	assert_refused(TLS "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,"
			   " TLS_RSA_WITH_AES_256_GCM_SHA384]\n",
		       "w:4:18: tls_server_config.cipher_suites: this list would allow "
		       "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 as well");
	assert_refused(TLS "  min_version: TLS13\n"
			   "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]\n",
		       "none of these suites");
	assert_refused(TLS "  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]\n",
		       "w:4:19: tls_server_config.cipher_suites: \"TLS_RSA_WITH_RC4_128_SHA\"");
}

static void unfit_tls_is_refused(void **state)
{
	assert_refused("tls_server_config:\n  cert_file: a\n",
		       "w:2:3: tls_server_config: key_file");
	assert_refused("tls_server_config:\n  key_file: a\n", "cert_file is missing");
	assert_refused(TLS "  cert: x\n", "cert and cert_file are both set");
	assert_refused(TLS "  min_version: TLS11\n", "w:4:16: tls_server_config.min_version: TLS");
	assert_refused(TLS "  max_version: TLS14\n", "must be TLS12 or TLS13");
	assert_refused(TLS "  min_version: TLS13\n  max_version: TLS12\n", "above max_version");
	assert_refused(TLS "  client_ca_file: c\n", "is not used without client_auth_type");
	assert_refused(TLS "  client_auth_type: RequireAndVerifyClientCert\n",
		       "w:4:21: tls_server_config.client_auth_type: needs client_ca_file");
	assert_refused(TLS "  client_auth_type: RequireAnyClientCert\n  client_allowed_sans: [a]\n",
		       "w:5:24: tls_server_config.client_allowed_sans: needs");
	assert_refused(TLS "  client_auth_type: maybe\n", "must be NoClientCert");
	assert_refused(TLS "  curve_preferences: [X448]\n", "\"X448\" is not a curve");
	assert_refused(TLS "  prefer_server_cipher_suites: maybe\n", "must be true or false");
}

static void unfit_users_are_refused(void **state)
{
	assert_refused("basic_auth_users: {}\n", "has no user");
	assert_refused(TLS "basic_auth_users:\n", "has no user");
	assert_refused("basic_auth_users: {a: secret}\n", "w:1:23: basic_auth_users.a: must be");
	assert_refused("basic_auth_users: {a: $2x$10$abcdefghijklmnopqrstuu"
		       "D7glF7JkEDexTpZG9m5tiAZ7VOyjUiO}\n",
		       "must be a bcrypt hash");
	assert_refused("basic_auth_users: {a: $2y$15$abcdefghijklmnopqrstuu"
		       "D7glF7JkEDexTpZG9m5tiAZ7VOyjUiO}\n",
		       "has the cost 15");
	assert_refused("basic_auth_users: {a: $2y$03$abcdefghijklmnopqrstuu"
		       "D7glF7JkEDexTpZG9m5tiAZ7VOyjUiO}\n",
		       "must be a bcrypt hash");
	assert_refused("basic_auth_users:\n  a: " HASH "\n  a: " HASH "\n",
		       "w:3:3: basic_auth_users.a: is set twice");
	assert_refused("basic_auth_users: {'a:b': " HASH "}\n", "a colon");
	assert_refused("basic_auth_users: [a]\n", "must be a mapping");
}

static void what_is_not_the_format_is_refused(void **state)
{
	assert_refused("", "w:1:1: has no key");
	assert_refused("# only a note\n", "w:1:1: has no key");
	assert_refused("{}\n", "w:1:1: has no key");
	assert_refused("a: [", "is not YAML");
	assert_refused("- a\n", "w:1:1: must be a mapping");
	assert_refused("basic_auth: {}\n", "w:1:1: basic_auth: there is no such key here; the keys "
					   "are tls_server_config");
	assert_refused("http_server_config:\n  headers:\n    Server: x\n",
		       "w:3:5: http_server_config.headers.Server: there is no such key");
	assert_refused("http_server_config: {headers: {X-Frame-Options: DENY}}\n",
		       "must be deny or sameorigin");
	assert_refused("http_server_config: {headers: {X-XSS-Protection: \"1\\r\\nA: b\"}}\n",
		       "control characters");
	assert_refused("rate_limit: {interval: 1s}\n", "w:1:24: rate_limit: burst must be");
	assert_refused("rate_limit: {interval: 1 s, burst: 1}\n", "must be a duration");
	assert_refused("rate_limit: {burst: -1}\n", "must be a number");
}

static void a_burst_and_then_the_interval(void **state)
{
	struct http_rate rate = { 0 };

	for (int i = 0; i < 3; i++)
		assert_true(http_rate_admits(&rate, 100, 3, 1000));
	assert_false(http_rate_admits(&rate, 100, 3, 1000));
	assert_false(http_rate_admits(&rate, 100, 3, 1099));
	assert_true(http_rate_admits(&rate, 100, 3, 1100));
	assert_false(http_rate_admits(&rate, 100, 3, 1199));
	assert_true(http_rate_admits(&rate, 100, 3, 5000));
	assert_true(http_rate_admits(&rate, 100, 3, 5000));
	assert_true(http_rate_admits(&rate, 100, 3, 5000));
	assert_false(http_rate_admits(&rate, 100, 3, 5000));
	assert_true(http_rate_admits(&rate, 0, 0, 5000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_the_format),
		cmocka_unit_test(what_is_left_out_has_the_formats_defaults),
		cmocka_unit_test(all_client_auth_types),
		cmocka_unit_test(suites_become_priorities),
		cmocka_unit_test(unfit_tls_is_refused),
		cmocka_unit_test(unfit_users_are_refused),
		cmocka_unit_test(what_is_not_the_format_is_refused),
		cmocka_unit_test(a_burst_and_then_the_interval),
	};

	return unit_run(tests);
}
