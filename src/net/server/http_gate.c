// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_gate.h"

#include <string.h>
#include <strings.h>

#include "base/macro.h"

void http_gate_init(struct http_gate *gate)
{
	*gate = (struct http_gate){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

void http_gate_release(struct http_gate *gate)
{
	http_basic_auth_free(TAKE_PTR(gate->passwords));
	http_auth_free(TAKE_PTR(gate->tokens));
	web_security_unref(TAKE_PTR(gate->security));
}

void http_gate_set_tokens(struct http_gate *gate, struct http_auth *tokens)
{
	struct http_auth *old;

	(void)pthread_mutex_lock(&gate->lock);
	old = gate->tokens;
	gate->tokens = tokens;
	(void)pthread_mutex_unlock(&gate->lock);
	http_auth_free(old);
}

int http_gate_set_security(struct http_gate *gate, struct web_security *security, struct diag *diag)
{
	struct http_basic_auth *passwords = NULL;
	struct web_security *old;
	int r = security && security->config->user_count && !gate->passwords
			? http_basic_auth_new(&passwords, diag)
			: 0;

	if (r < 0)
		return r;
	(void)pthread_mutex_lock(&gate->lock);
	old = gate->security;
	gate->security = security;
	if (passwords)
		__atomic_store_n(&gate->passwords, passwords, __ATOMIC_RELEASE);
	(void)pthread_mutex_unlock(&gate->lock);
	web_security_unref(old);
	return 0;
}

struct web_security *http_gate_security(struct http_gate *gate)
{
	struct web_security *security;

	(void)pthread_mutex_lock(&gate->lock);
	security = web_security_ref(gate->security);
	(void)pthread_mutex_unlock(&gate->lock);
	return security;
}

static void clear_and_free(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	MHD_free(text);
}

/* Under the lock. */
static enum http_verdict ask_passwords(struct http_gate *gate, struct MHD_Connection *mhd,
				       uint64_t address)
{
	char *password = NULL;
	char *name = MHD_basic_auth_get_username_password(mhd, &password);
	enum http_basic_verdict verdict = HTTP_BASIC_REFUSED;

	if (name && password)
		verdict = http_basic_auth_ask(gate->passwords, gate->security->config, name,
					      password, address);
	clear_and_free(name);
	clear_and_free(password);
	switch (verdict) {
	case HTTP_BASIC_ADMITTED:
		return HTTP_ADMITTED;
	case HTTP_BASIC_PENDING:
		return HTTP_UNDECIDED;
	case HTTP_BASIC_BUSY:
		return HTTP_CROWDED;
	case HTTP_BASIC_REFUSED:
		break;
	}
	return HTTP_UNAUTHORIZED;
}

/* Under the lock. A request that waited has been counted before. */
static bool is_within_limit(struct http_gate *gate, const struct http_connection *connection,
			    uint64_t now_ns)
{
	const struct web_config *config = gate->security ? gate->security->config : NULL;

	return !config || !config->rate_interval_ns || connection->held_ns ||
	       http_rate_admits(&gate->rate, config->rate_interval_ns, config->rate_burst, now_ns);
}

static enum http_verdict ask_reviewer(const struct http_gate *gate, const char *token,
				      const struct http_question *question)
{
	struct http_question whole = *question;

	whole.token = token;
	return gate->reviewer.ask(gate->reviewer.userdata, &whole);
}

/* Under the lock. */
static enum http_verdict judge(struct http_gate *gate, struct MHD_Connection *mhd,
			       const struct http_connection *connection,
			       const struct http_question *question)
{
	const char *authorization =
		MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
	bool has_users = gate->security && gate->security->config->user_count;

	const char *token = authorization ? http_auth_bearer(authorization) : NULL;

	if (!gate->tokens && !has_users && !gate->reviewer.ask)
		return HTTP_ADMITTED;
	if (!authorization)
		return HTTP_UNAUTHORIZED;
	if (gate->tokens && http_auth_admits(gate->tokens, authorization))
		return HTTP_ADMITTED;
	if (has_users && strncasecmp(authorization, "Basic ", 6) == 0)
		return ask_passwords(gate, mhd, connection->address);
	if (gate->reviewer.ask && token)
		return ask_reviewer(gate, token, question);
	return HTTP_UNAUTHORIZED;
}

enum http_verdict http_gate_ask(struct http_gate *gate, struct MHD_Connection *mhd,
				const struct http_connection *connection,
				const struct http_question *question, uint64_t now_ns)
{
	enum http_verdict verdict;

	if (!question)
		return HTTP_ADMITTED;
	(void)pthread_mutex_lock(&gate->lock);
	verdict = is_within_limit(gate, connection, now_ns) ? judge(gate, mhd, connection, question)
							    : HTTP_LIMITED;
	(void)pthread_mutex_unlock(&gate->lock);
	return verdict;
}

const char *http_gate_schemes(struct http_gate *gate)
{
	bool tokens, users;

	(void)pthread_mutex_lock(&gate->lock);
	tokens = gate->tokens || gate->reviewer.ask;
	users = gate->security && gate->security->config->user_count;
	(void)pthread_mutex_unlock(&gate->lock);
	if (tokens && users)
		return "Basic realm=\"kepler\", charset=\"UTF-8\", Bearer";
	return users ? "Basic realm=\"kepler\", charset=\"UTF-8\"" : "Bearer";
}

struct http_basic_stats http_gate_password_stats(const struct http_gate *gate)
{
	struct http_basic_auth *passwords = __atomic_load_n(&gate->passwords, __ATOMIC_ACQUIRE);
	struct http_basic_stats stats = { 0 };

	if (passwords)
		http_basic_auth_get_stats(passwords, &stats);
	return stats;
}
