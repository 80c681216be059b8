// SPDX-License-Identifier: Apache-2.0
/*
 * Written by temporary file, fsync and rename (base/file.h); read as untrusted input. The check sum
 * is verified first, so a cut or flipped byte anywhere means that the file is ignored, and never
 * gives a wrong value.
 */
#include "service/state_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/macro.h"

#define HEADER      "kepler-state 1 "
#define TRAILER     "crc32 "
#define TRAILER_LEN (sizeof(TRAILER) - 1 + 8 + 1) /* eight hexadecimal digits and a newline */

void state_machine_facts(const struct host_info *host, char ret[static STATE_FACTS_MAX])
{
	(void)snprintf(ret, STATE_FACTS_MAX, "%s %s %u %u", host->machine, host->cpu_model,
		       host->cpus, host->sockets);
}

void state_machine_key(const char *machine_id_path, const char *facts, char key[STATE_MACHINE_MAX])
{
	CLEANUP_FREE char *id = NULL;
	uint64_t hash = HASH64_START;

	if (machine_id_path && read_file_alloc(machine_id_path, 256, &id, NULL) == 0)
		hash = hash64_text(hash, id);
	hash = hash64_text(hash64_text(hash, "/"), facts);
	(void)snprintf(key, STATE_MACHINE_MAX, "%016llx", (unsigned long long)hash);
}

void state_boot_key(const char *boot_id_path, char key[STATE_MACHINE_MAX])
{
	CLEANUP_FREE char *id = NULL;

	key[0] = '\0';
	if (read_file_alloc(boot_id_path, 256, &id, NULL) == 0 && id[0])
		(void)snprintf(key, STATE_MACHINE_MAX, "%016llx",
			       (unsigned long long)hash64_text(HASH64_START, id));
}

static bool is_graphic(char c)
{
	return c > ' ' && c <= '~';
}

static bool is_key(const char *key, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!is_graphic(key[i]))
			return false;
	}
	return len > 0 && len < STATE_KEY_MAX;
}

static bool is_line(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!is_graphic(line[i]) && line[i] != ' ')
			return false;
	}
	return len < STATE_LINE_MAX;
}

static struct state_entry *find_entry(struct state *state, const char *key, size_t len)
{
	for (size_t i = 0; i < state->count; i++) {
		if (strncmp(state->entries[i].key, key, len) == 0 && !state->entries[i].key[len])
			return &state->entries[i];
	}
	return NULL;
}

const char *state_find(const struct state *state, const char *key)
{
	for (size_t i = 0; i < state->count; i++) {
		if (strcmp(state->entries[i].key, key) == 0)
			return state->entries[i].line;
	}
	return NULL;
}

static int put_bytes(struct state *state, const char *key, size_t key_len, const char *line,
		     size_t line_len)
{
	struct state_entry *entry;

	if (!is_key(key, key_len) || !is_line(line, line_len))
		return -EINVAL;
	entry = find_entry(state, key, key_len);
	if (!entry && state->count == STATE_ENTRIES_MAX)
		return -ENOSPC;
	if (!entry)
		entry = &state->entries[state->count++];
	*entry = (struct state_entry){ 0 }; /* equal states have equal bytes */
	memcpy(entry->key, key, key_len);
	entry->key[key_len] = '\0';
	memcpy(entry->line, line, line_len);
	entry->line[line_len] = '\0';
	return 0;
}

int state_put(struct state *state, const char *key, const char *line)
{
	return put_bytes(state, key, strlen(key), line, strlen(line));
}

static uint32_t checksum(const char *text, size_t len)
{
	return (uint32_t)crc32(crc32(0, NULL, 0), (const Bytef *)text, (uInt)len);
}

static void format_trailer(char *buf, size_t size, const char *text, size_t len)
{
	(void)snprintf(buf, size, TRAILER "%08x\n", checksum(text, len));
}

/* Length of the part that the check sum covers, or 0. */
static size_t checked_len(const char *text, size_t len)
{
	char trailer[TRAILER_LEN + 1];
	size_t body = len - TRAILER_LEN;

	if (len <= TRAILER_LEN || len > STATE_FILE_MAX)
		return 0;
	format_trailer(trailer, sizeof(trailer), text, body);
	return memcmp(text + body, trailer, TRAILER_LEN) == 0 ? body : 0;
}

static int parse_entries(const char *text, const char *end, struct state *state)
{
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *blank = newline ? memchr(text, ' ', (size_t)(newline - text)) : NULL;
		int r;

		if (!blank)
			return -EINVAL;
		r = put_bytes(state, text, (size_t)(blank - text), blank + 1,
			      (size_t)(newline - blank - 1));
		if (r < 0)
			return r;
		text = newline + 1;
	}
	return 0;
}

int state_parse(const char *text, size_t len, const char *machine, struct state *ret,
		struct diag *diag)
{
	char header[sizeof(HEADER) + STATE_MACHINE_MAX];
	CLEANUP_FREE struct state *state = calloc(1, sizeof(*state));
	size_t body = checked_len(text, len), header_len;
	int n = snprintf(header, sizeof(header), HEADER "%s\n", machine);

	if (!state)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (!body)
		return diag_set(diag, -EINVAL, "damaged: its checksum does not match");
	header_len = n < 0 ? 0 : (size_t)n;
	if (body < sizeof(HEADER) - 1 || memcmp(text, HEADER, sizeof(HEADER) - 1) != 0)
		return diag_set(diag, -EINVAL, "of another version");
	if (header_len >= sizeof(header) || body < header_len ||
	    memcmp(text, header, header_len) != 0)
		return diag_set(diag, -EINVAL, "of another machine");
	if (parse_entries(text + header_len, text + body, state) < 0)
		return diag_set(diag, -EINVAL, "not in the format that this program writes");
	ret->count = state->count;
	memcpy(ret->entries, state->entries, state->count * sizeof(state->entries[0]));
	return 0;
}

void state_format(const struct state *state, const char *machine, struct strbuf *out)
{
	char trailer[TRAILER_LEN + 1];
	size_t start = out->len;

	strbuf_addf(out, HEADER "%s\n", machine);
	for (size_t i = 0; i < state->count; i++)
		strbuf_addf(out, "%s %s\n", state->entries[i].key, state->entries[i].line);
	if (strbuf_error(out) < 0)
		return;
	format_trailer(trailer, sizeof(trailer), out->data + start, out->len - start);
	strbuf_add_str(out, trailer);
}

int state_load(const char *dir, const char *machine, struct state *ret, struct diag *diag)
{
	char path[4096];
	CLEANUP_FREE char *text = NULL;
	struct diag why = { 0 };
	size_t len = 0;
	int r = path_join(path, sizeof(path), dir, STATE_FILE_NAME);

	if (r == 0)
		r = read_file_alloc(path, STATE_FILE_MAX, &text, &len);
	if (r < 0)
		return diag_set(diag, r, "%s/" STATE_FILE_NAME ": %s", dir, strerrordesc_np(-r));
	r = state_parse(text, len, machine, ret, &why);
	return r < 0 ? diag_set(diag, r, "%s: %s", path, why.text) : 0;
}

int state_save(const char *dir, const char *machine, const struct state *state, struct diag *diag)
{
	char path[4096];
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = path_join(path, sizeof(path), dir, STATE_FILE_NAME);

	state_format(state, machine, &text);
	if (r == 0)
		r = strbuf_error(&text);
	if (r == 0 && mkdir(dir, 0755) < 0 && errno != EEXIST)
		r = -errno;
	if (r == 0)
		r = write_file_atomic(path, text.data, text.len, 0600);
	if (r < 0)
		return diag_set(diag, r, "%s/" STATE_FILE_NAME ": %s", dir, strerrordesc_np(-r));
	return 0;
}
