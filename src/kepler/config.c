// SPDX-License-Identifier: Apache-2.0
/*
 * Layers: defaults, then the file, the environment, the flags, each over the one before; then what
 * only makes sense together is checked. The file's name may itself come from a flag or the
 * environment, so those two are read twice: once over a scratch config, for the name (and for their
 * errors, which are nearer to the person), once in order.
 */
#include "kepler/config.h"

#include <errno.h>
#include <string.h>

#include "attribution/idle.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "kepler/config_options.h"
#include "net/http_listen.h"

#define CLEANUP_CONFIG CLEANUP(config_release)

static int set_defaults(struct config *config, struct diag *diag)
{
	size_t count;
	const struct config_option *options = config_options(&count);

	*config = (struct config){ 0 };
	config->origins = calloc(count, sizeof(*config->origins));
	config->warnings = strdup("");
	if (!config->origins || !config->warnings)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		int r = option_set_all_from(i, config, ORIGIN_DEFAULT, options[i].default_text,
					    diag);

		if (r < 0)
			return r;
	}
	return 0;
}

void config_release(struct config *config)
{
	size_t count;
	const struct config_option *options = config_options(&count);

	for (size_t i = 0; i < count; i++)
		option_release(&options[i], config);
	free(config->origins);
	free(config->warnings);
	*config = (struct config){ 0 };
}

const char *config_reachable_address(const struct config *config)
{
	for (size_t i = 0; i < config->web_listen_count; i++) {
		if (!http_listen_is_local(config->web_listen_address[i]))
			return config->web_listen_address[i];
	}
	return NULL;
}

int config_check_interval(const struct config *config, const char *reachable, struct diag *diag)
{
	if (config->monitor_interval_ns >= NSEC_PER_SEC || config->web_allow_fast_updates ||
	    !reachable)
		return 0;
	return diag_set(diag, -EINVAL,
			"monitor.interval: others than this machine's processes can read at "
			"\"%.100s\", and readings below 1s tell them what runs here; "
			"web.allow-fast-updates allows it",
			reachable);
}

/* What is right by itself and wrong together. */
static int check_whole(const struct config *config, struct diag *diag)
{
	if (config->idle_mode == IDLE_MODE_FIXED && !config->idle_watts_count)
		return diag_set(
			diag, -EINVAL,
			"idle.mode: fixed wants idle.watts to say how much, as in package=12.5");
	if (!config->web_listen_count)
		return diag_set(diag, -EINVAL,
				"web.listen-address: must have at least one address");
	return config_check_interval(config, config_reachable_address(config), diag);
}

static struct config take_config(struct config *config)
{
	struct config taken = *config;

	*config = (struct config){ 0 };
	return taken;
}

static int read_text(struct config *config, const char *name, const char *text, size_t len,
		     struct diag *diag)
{
	if (len > CONFIG_FILE_MAX)
		return diag_set(diag, -EFBIG, "%s: larger than 1 MiB", name);
	return config_read_yaml(config, name, text, len, diag);
}

static int read_file(struct config *config, const char *path, bool optional, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len;
	int r = read_file_alloc(path, CONFIG_FILE_MAX, &text, &len);

	if (r == -ENOENT && optional)
		return 0;
	if (r == -EFBIG)
		return diag_set(diag, r, "%s: larger than 1 MiB", path);
	if (r == -ENOTSUP)
		return diag_set(diag, r, "%s: a pipe, not a file", path);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	free(config->config_file);
	config->config_file = strdup(path);
	if (!config->config_file)
		return diag_set(diag, -ENOMEM, "out of memory");
	return read_text(config, path, text, len, diag);
}

static int read_command_line(struct config *config, const struct config_args *args,
			     struct diag *diag)
{
	int r = config_read_environment(config, args->environ_, diag);

	return r < 0 ? r : config_read_flags(config, args->argc, args->argv, diag);
}

int config_load(const struct config_args *args, struct config *ret, struct diag *diag)
{
	const char *default_file = args->default_file ? args->default_file : CONFIG_DEFAULT_FILE;
	CLEANUP_CONFIG struct config scratch = { 0 };
	CLEANUP_CONFIG struct config config = { 0 };
	struct diag unused = { 0 };
	int r;

	diag = diag ? diag : &unused;
	r = set_defaults(&scratch, diag);
	if (r == 0)
		r = read_command_line(&scratch, args, diag);
	if (r == 0)
		r = set_defaults(&config, diag);
	if (r == 0 && scratch.config_file[0])
		r = read_file(&config, scratch.config_file, false, diag);
	else if (r == 0 && default_file[0] && !scratch.origins[option_find("config.file")])
		r = read_file(&config, default_file, true, diag);
	if (r == 0)
		r = read_command_line(&config, args, diag);
	if (r == 0)
		r = check_whole(&config, diag);
	if (r == 0)
		*ret = take_config(&config);
	return r;
}

int config_load_text(const char *name, const char *text, size_t len, struct config *ret,
		     struct diag *diag)
{
	CLEANUP_CONFIG struct config config = { 0 };
	struct diag why = { 0 };
	int r = set_defaults(&config, diag);

	if (r == 0)
		r = read_text(&config, name, text, len, diag);
	if (r < 0)
		return r;
	r = check_whole(&config, &why);
	if (r < 0)
		return diag_set(diag, r, "%s: %s", name, why.text);
	*ret = take_config(&config);
	return 0;
}

int config_load_file(const char *path, struct config *ret, struct diag *diag)
{
	CLEANUP_CONFIG struct config config = { 0 };
	struct diag why = { 0 };
	int r = set_defaults(&config, diag);

	if (r == 0)
		r = read_file(&config, path, false, diag);
	if (r < 0)
		return r;
	r = check_whole(&config, &why);
	if (r < 0)
		return diag_set(diag, r, "%s: %s", path, why.text);
	*ret = take_config(&config);
	return 0;
}

void config_unreloadable_changes(const struct config *old, const struct config *new_, char *buf,
				 size_t size)
{
	size_t count, len = 0;
	const struct config_option *options = config_options(&count);

	buf[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const char *name = options[i].name;
		size_t need = strlen(name) + (len ? 2 : 0);

		if (options[i].reloadable || options[i].not_in_file ||
		    option_equal(&options[i], old, new_))
			continue;
		if (len + need >= size)
			return;
		memcpy(buf + len, len ? ", " : "", len ? 2 : 0);
		memcpy(buf + len + need - strlen(name), name, strlen(name) + 1);
		len += need;
	}
}

void config_keep_unreloadable(struct config *old, struct config *fresh)
{
	size_t count;
	const struct config_option *options = config_options(&count);

	for (size_t i = 0; i < count; i++) {
		enum config_origin origin = fresh->origins[i];

		if (options[i].reloadable || options[i].not_in_file)
			continue;
		option_swap(&options[i], old, fresh);
		fresh->origins[i] = old->origins[i];
		old->origins[i] = origin;
	}
}
