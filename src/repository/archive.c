// SPDX-License-Identifier: Apache-2.0
/* Over libzip, which reads the central directory; all of its values are checked here. */
#include "repository/archive.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "base/macro.h"

struct limits {
	unsigned files, total_mib;
};

static const struct limits of_a_model = { ARCHIVE_FILES_MAX, ARCHIVE_TOTAL_MAX >> 20 };
static const struct limits of_a_pipeline = { ARCHIVE_PIPELINE_FILES_MAX,
					     ARCHIVE_PIPELINE_TOTAL_MAX >> 20 };

struct archive {
	zip_t *zip;
	const struct limits *limits;
	char name[ARCHIVE_NAME_MAX]; /* for messages */
	size_t count;
	char (*names)[ARCHIVE_NAME_MAX];
	uint64_t *sizes;
};

/* Returns true if a path stays below the directory that it is unpacked in, on any system. */
static bool is_safe_name(const char *name)
{
	size_t len = strlen(name);

	if (!len || len >= ARCHIVE_NAME_MAX || name[0] == '/')
		return false;
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f || *c == '\\' || *c == ':')
			return false;
	for (const char *part = name; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2]))
			return false;
	}
	return true;
}

static bool is_link_or_device(zip_t *zip, zip_uint64_t index)
{
	zip_uint8_t system = 0;
	zip_uint32_t attributes = 0;
	unsigned mode;

	if (zip_file_get_external_attributes(zip, index, 0, &system, &attributes) < 0 ||
	    system != ZIP_OPSYS_UNIX)
		return false;
	mode = (attributes >> 16) & S_IFMT;
	return mode && mode != S_IFREG && mode != S_IFDIR;
}

/* The fault of file @index, or NULL. */
static const char *fault_of(struct archive *archive, zip_uint64_t index, const zip_stat_t *stat)
{
	const zip_uint64_t known =
		ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_ENCRYPTION_METHOD;

	if ((stat->valid & known) != known)
		return "its header is incomplete";
	if (!is_safe_name(stat->name))
		return "its name would lead out of the archive's directory";
	if (archive_find(archive, stat->name) != SIZE_MAX)
		return "its name comes twice";
	if (is_link_or_device(archive->zip, index))
		return "it is a link or a device";
	if (stat->encryption_method != ZIP_EM_NONE)
		return "it is encrypted";
	if (stat->size > ARCHIVE_FILE_MAX)
		return "it has more than 16 MiB unpacked";
	if (stat->size >= ARCHIVE_RATIO_MIN && stat->size / ARCHIVE_RATIO_MAX > stat->comp_size)
		return "its compression ratio is above 100, which no model has";
	return NULL;
}

/* A name of an archive for a message: it may have anything in it. */
static void printable(char *buf, size_t size, const char *text)
{
	size_t len = 0;

	for (; *text && len + 1 < size; text++)
		buf[len++] = *text >= ' ' && *text < 0x7f ? *text : '?';
	buf[len] = '\0';
}

static int take_file(struct archive *archive, zip_uint64_t index, uint64_t *total,
		     struct diag *diag)
{
	char shown[64] = "";
	zip_stat_t stat;
	const char *fault;

	zip_stat_init(&stat);
	if (zip_stat_index(archive->zip, index, ZIP_FL_ENC_RAW, &stat) < 0)
		return diag_set(diag, -EINVAL, "%s: the list of files is broken", archive->name);
	fault = fault_of(archive, index, &stat);
	*total += stat.valid & ZIP_STAT_SIZE ? stat.size : 0;
	if (!fault && *total > (uint64_t)archive->limits->total_mib << 20)
		return diag_set(diag, -EINVAL, "%s: the files have more than %u MiB unpacked",
				archive->name, archive->limits->total_mib);
	if (fault) {
		printable(shown, sizeof(shown), stat.valid & ZIP_STAT_NAME ? stat.name : "?");
		return diag_set(diag, -EINVAL, "%s: file \"%s\": %s", archive->name, shown, fault);
	}
	memcpy(archive->names[archive->count], stat.name, strlen(stat.name) + 1);
	archive->sizes[archive->count++] = stat.size;
	return 0;
}

static int take_files(struct archive *archive, struct diag *diag)
{
	zip_int64_t entries = zip_get_num_entries(archive->zip, 0);
	uint64_t total = 0;
	int r = 0;

	if (entries < 1 || entries > archive->limits->files)
		return diag_set(diag, -EINVAL, "%s: has %lld files, not 1 to %u", archive->name,
				(long long)entries, archive->limits->files);
	archive->names = calloc((size_t)entries, sizeof(*archive->names));
	archive->sizes = calloc((size_t)entries, sizeof(*archive->sizes));
	if (!archive->names || !archive->sizes)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (zip_uint64_t i = 0; r == 0 && i < (zip_uint64_t)entries; i++)
		r = take_file(archive, i, &total, diag);
	return r;
}

static zip_t *open_zip(const void *data, size_t size, zip_error_t *error)
{
	zip_source_t *source = zip_source_buffer_create(data, size, 0, error);
	zip_t *zip = NULL;

	if (source) {
		zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, error);
		if (!zip)
			zip_source_free(source);
	}
	return zip;
}

static int open_within(const struct limits *limits, const char *name, const void *data, size_t size,
		       struct archive **ret, struct diag *diag)
{
	CLEANUP(archive_cleanup) struct archive *archive = calloc(1, sizeof(*archive));
	zip_error_t error;
	int r;

	if (!archive)
		return diag_set(diag, -ENOMEM, "out of memory");
	archive->limits = limits;
	printable(archive->name, sizeof(archive->name), name);
	zip_error_init(&error);
	archive->zip = open_zip(data, size, &error);
	if (!archive->zip)
		r = diag_set(diag, -EINVAL, "%s: not a valid zip archive: %s", archive->name,
			     zip_error_strerror(&error));
	else
		r = take_files(archive, diag);
	zip_error_fini(&error);
	if (r == 0)
		*ret = TAKE_PTR(archive);
	return r;
}

int archive_open(const char *name, const void *data, size_t size, struct archive **ret,
		 struct diag *diag)
{
	return open_within(&of_a_model, name, data, size, ret, diag);
}

int archive_open_pipeline(const char *name, const void *data, size_t size, struct archive **ret,
			  struct diag *diag)
{
	return open_within(&of_a_pipeline, name, data, size, ret, diag);
}

void archive_close(struct archive *archive)
{
	if (!archive)
		return;
	if (archive->zip)
		zip_discard(archive->zip);
	free(archive->names);
	free(archive->sizes);
	free(archive);
}

void archive_cleanup(struct archive **archive)
{
	archive_close(*archive);
}

size_t archive_count(const struct archive *archive)
{
	return archive->count;
}

const char *archive_name(const struct archive *archive, size_t index)
{
	return archive->names[index];
}

size_t archive_find(const struct archive *archive, const char *file)
{
	for (size_t i = 0; i < archive->count; i++)
		if (strcmp(archive->names[i], file) == 0)
			return i;
	return SIZE_MAX;
}

/* Reads one more byte, because libzip compares the checksum at the end of the file. */
static bool read_all(zip_file_t *file, char *text, uint64_t size)
{
	uint64_t got = 0;
	char more;

	while (got < size) {
		zip_int64_t n = zip_fread(file, text + got, size - got);

		if (n <= 0)
			return false;
		got += (uint64_t)n;
	}
	return zip_fread(file, &more, 1) == 0;
}

int archive_read(const struct archive *archive, size_t index, char **ret, size_t *ret_len,
		 struct diag *diag)
{
	CLEANUP_FREE char *text = malloc(archive->sizes[index] + 1);
	zip_file_t *file = text ? zip_fopen_index(archive->zip, index, 0) : NULL;
	bool whole = file && read_all(file, text, archive->sizes[index]);

	if (file)
		(void)zip_fclose(file); /* it was only read */
	if (!text)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (!whole)
		return diag_set(diag, -EINVAL, "%s: file \"%s\" is broken", archive->name,
				archive->names[index]);
	text[archive->sizes[index]] = '\0';
	*ret_len = archive->sizes[index];
	*ret = TAKE_PTR(text);
	return 0;
}

static bool add_file(zip_t *zip, const struct archive_file *file)
{
	zip_source_t *source = zip_source_buffer(zip, file->data, file->len, 0);
	zip_int64_t index = source ? zip_file_add(zip, file->name, source, ZIP_FL_ENC_UTF_8) : -1;

	if (index < 0) {
		zip_source_free(source);
		return false;
	}
	/* 1980-01-01, the first day that a zip can name */
	return zip_file_set_dostime(zip, (zip_uint64_t)index, 0, (1 << 5) | 1, 0) == 0;
}

static bool take_bytes(zip_source_t *source, struct strbuf *out)
{
	char block[4096];
	zip_int64_t n;

	if (zip_source_open(source) < 0)
		return false;
	while ((n = zip_source_read(source, block, sizeof(block))) > 0)
		strbuf_add(out, block, (size_t)n);
	(void)zip_source_close(source); /* it was only read */
	return n == 0 && strbuf_error(out) == 0;
}

int archive_write(const struct archive_file *files, size_t count, struct strbuf *out)
{
	zip_source_t *source = zip_source_buffer_create(NULL, 0, 0, NULL);
	zip_t *zip = source ? zip_open_from_source(source, ZIP_TRUNCATE, NULL) : NULL;
	bool fine = zip;

	if (!zip) {
		zip_source_free(source);
		return -ENOMEM;
	}
	zip_source_keep(source);
	for (size_t i = 0; fine && i < count; i++)
		fine = add_file(zip, &files[i]);
	if (fine && zip_close(zip) == 0)
		fine = take_bytes(source, out);
	else
		fine = (zip_discard(zip), false);
	zip_source_free(source);
	return fine ? 0 : -ENOMEM;
}
