// SPDX-License-Identifier: Apache-2.0
#include "doctor/report_names.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "config/own_names.h"

#define PERSON_UID_MIN 1000 /* the first of a person, as Debian and Red Hat have it */
#define PERSONS_MAX    400
#define VALUE_MIN      6 /* characters: longer than "false" */

static bool is_an_option(const char *word)
{
	return option_find(&config_options, word) != OPTION_NONE ||
	       option_is_section(&config_options, word);
}

static void add_host(void *userdata, const char *name)
{
	CLEANUP_FREE char *label = strndup(name, strcspn(name, "."));

	redaction_add(userdata, REDACTED_HOST, name);
	if (label)
		redaction_add(userdata, REDACTED_HOST, label);
}

static void add_user(struct redaction *redaction, const char *name)
{
	if (name)
		redaction_add(redaction, REDACTED_USER, name);
}

/* Those of /etc/passwd: a directory of users is not searched. */
static void add_users(struct redaction *redaction)
{
	static const char *const variables[] = { "SUDO_USER", "USER", "LOGNAME" };
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *user;
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		add_user(redaction, getenv(variables[i]));
	while (file && count < PERSONS_MAX && (user = fgetpwent(file))) {
		if (user->pw_uid < PERSON_UID_MIN || user->pw_uid >= UINT16_MAX - 1)
			continue;
		add_user(redaction, user->pw_name);
		count++;
	}
	if (file)
		(void)fclose(file);
}

/* ---- options ---- */

/* Texts that can only be words of Kepler's and numbers, which option->check has seen to. */
static bool is_plain(const struct option *option)
{
	static const char *const plain[] = { "meters", "meter.hwmon", "vm.neighbour-load",
					     "web.socket-mode" };

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		if (strcmp(option->name, plain[i]) == 0)
			return true;
	}
	return strncmp(option->name, "counters.", strlen("counters.")) == 0 ||
	       (option->type != OPTION_STRING && option->type != OPTION_STRINGS);
}

static bool has_letter(const char *text)
{
	return strpbrk(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL;
}

/* User, password and host of what may be a URL or HOST:PORT. */
static void add_authority(struct redaction *redaction, const char *text)
{
	const char *scheme = strstr(text, "://");
	CLEANUP_FREE char *authority = strdup(scheme ? scheme + 3 : text);
	char *host, *user, *word;

	if (!authority)
		return;
	authority[strcspn(authority, "/?#")] = '\0';
	host = strrchr(authority, '@');
	if (host) {
		*host++ = '\0';
		user = authority;
		while ((word = strsep(&user, ":")))
			redaction_add(redaction, REDACTED_USER, word);
	}
	host = host ? host : authority;
	host[strcspn(host, "]:")] = '\0';
	if (has_letter(host))
		add_host(redaction, host);
}

/* The values in "KEY=VALUE,KEY=VALUE", except for numbers and switches. */
static void add_values(struct redaction *redaction, const char *text)
{
	for (const char *value = strchr(text, '='); value; value = strchr(value, '=')) {
		size_t len = strcspn(++value, ",");
		CLEANUP_FREE char *copy = strndup(value, len);

		if (copy && len >= VALUE_MIN && has_letter(copy))
			redaction_add(redaction, REDACTED_NAME, copy);
	}
}

static void add_text(struct redaction *redaction, const char *text)
{
	if (text[0] == '/') {
		redaction_add(redaction, REDACTED_PATH, text);
		return;
	}
	if (strstr(text, "://"))
		redaction_add(redaction, REDACTED_URL, text);
	else if (has_letter(text))
		redaction_add(redaction, REDACTED_NAME, text);
	add_values(redaction, text);
	add_authority(redaction, text);
}

static size_t item_count(const struct option *option, const void *part)
{
	return option_is_list(option) ? option_list_count(option, part) : 1;
}

static bool is_given(const struct config *config, size_t index)
{
	return config->options.origins && config->options.origins[index] != ORIGIN_DEFAULT;
}

static void add_option(struct redaction *redaction, const struct config *config, size_t index)
{
	const struct option *option = option_at(&config_options, index);
	const void *part = option_part_of(&config_options, index, &config->options);

	if (!is_given(config, index) || is_plain(option))
		return;
	for (size_t item = 0; item < item_count(option, part); item++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

		option_format(option, part, item, &text);
		if (strbuf_error(&text) == 0 && text.len)
			add_text(redaction, text.data);
	}
}

static void add_roots(struct redaction *redaction, const struct config_host *host)
{
	const struct {
		const char *given, *usual;
	} roots[] = { { host->sysfs, "/sys" },
		      { host->procfs, "/proc" },
		      { host->cgroupfs, "/sys/fs/cgroup" },
		      { host->state_dir, "/var/lib/kepler" } };

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		if (roots[i].given[0] && strcmp(roots[i].given, roots[i].usual) != 0)
			redaction_add_root(redaction, roots[i].given, roots[i].usual);
	}
}

struct redaction *report_names_new(const struct config *config)
{
	struct redaction *redaction = redaction_new(is_an_option);

	if (!redaction)
		return NULL;
	add_roots(redaction, &config->host);
	own_names_each(config, add_host, redaction);
	add_users(redaction);
	for (size_t i = 0; i < option_count(&config_options); i++)
		add_option(redaction, config, i);
	if (config->options.file && config->options.file[0] &&
	    strcmp(config->options.file, CONFIG_DEFAULT_FILE) != 0)
		redaction_add(redaction, REDACTED_PATH, config->options.file);
	return redaction;
}

static void show_option(const struct config *config, size_t index, struct strbuf *out)
{
	static const char *const origins[] = {
		[ORIGIN_FILE] = "file", [ORIGIN_ENVIRONMENT] = "environment", [ORIGIN_FLAG] = "flag"
	};
	const struct option *option = option_at(&config_options, index);
	const void *part = option_part_of(&config_options, index, &config->options);
	size_t count = item_count(option, part);

	strbuf_addf(out, "%s (%s): ", option->name, origins[config->options.origins[index]]);
	if (is_plain(option)) {
		for (size_t item = 0; item < count; item++) {
			strbuf_add_str(out, item ? ", " : "");
			option_format(option, part, item, out);
		}
	} else {
		strbuf_addf(out, "%zu value%s, not shown", count, count == 1 ? "" : "s");
	}
	strbuf_add_char(out, '\n');
}

void report_names_show_options(const struct config *config, struct strbuf *out)
{
	strbuf_add_str(out, "Options that are not at their defaults:\n");
	for (size_t i = 0; i < option_count(&config_options); i++) {
		if (is_given(config, i))
			show_option(config, i, out);
	}
}
