// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/report_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "verdict-report/html_page.h"
#include "verdict-report/junit_xml.h"
#include "verdict-report/markdown.h"
#include "verdict-report/report_json.h"

#define GZIP_WINDOW (15 + 16) /* zlib: the format gzip */

static int write_failed(struct diag *diag, const char *path, int r)
{
	return r < 0 ? diag_set(diag, r, "%s: cannot be written: %s", path, strerror(-r)) : 0;
}

static int write_text(const char *folder, const char *name, const struct strbuf *text,
		      struct diag *diag)
{
	char path[PATH_MAX];

	int r = strbuf_error(text);
	if (r == 0)
		r = path_join(path, sizeof(path), folder, name);
	if (r < 0)
		return write_failed(diag, name, r);
	return write_failed(diag, path, write_file_atomic(path, text->data, text->len, 0644));
}

static int compress_text(const struct strbuf *text, struct strbuf *out)
{
	z_stream stream = { 0 };

	if (strbuf_error(text) < 0 || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
						   GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	size_t most = deflateBound(&stream, text->len);
	if (strbuf_reserve(out, most)) {
		stream.next_in = (Bytef *)text->data;
		stream.avail_in = (uInt)text->len;
		stream.next_out = (Bytef *)out->data;
		stream.avail_out = (uInt)most;
		if (deflate(&stream, Z_FINISH) == Z_STREAM_END)
			out->len = stream.total_out;
	}
	(void)deflateEnd(&stream);
	return out->len > 0 ? 0 : -ENOMEM;
}

/* A window's line has the time of its end, as a gauge's sample has. */
static int write_series(const char *folder, size_t index, const char *which,
			const struct series *series, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT;
	char name[REPORT_FILE_MAX];

	if (!series)
		return 0;
	report_series_file(index, which, name);
	strbuf_add_str(&text, "time,");
	strbuf_add_csv(&text, strcmp(series->unit, "W") == 0 ? "watts" : series->unit);
	strbuf_add_char(&text, '\n');
	for (size_t i = 0; i < series->count; i++)
		strbuf_addf(&text, "%.3f,%.9g\n", series->windows[i].end_s,
			    series->windows[i].rate);
	int r = compress_text(&text, &packed);
	return r < 0 ? write_failed(diag, name, r) : write_text(folder, name, &packed, diag);
}

/*
 * Series of an earlier report with more results would pass as part of this one. A link in the
 * folder's place may be another user's: nothing is removed through it.
 */
static int make_series_folder(const char *path)
{
	if (mkdir(path, 0755) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		int r = -errno;
		if (fd >= 0)
			(void)close(fd);
		return r;
	}
	for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
		if (report_owns_series_file(entry->d_name))
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	(void)closedir(dir);
	return 0;
}

static int make_folders(const char *folder, struct diag *diag)
{
	char path[PATH_MAX];

	int r = path_join(path, sizeof(path), folder, "report.json");
	if (r < 0)
		return write_failed(diag, folder, r);
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return write_failed(diag, folder, -errno);
	if (unlink(path) < 0 && errno != ENOENT)
		return write_failed(diag, path, -errno);
	r = path_join(path, sizeof(path), folder, "series");
	return write_failed(diag, path, r < 0 ? r : make_series_folder(path));
}

static int write_all_series(const char *folder, const struct result_list *results,
			    struct diag *diag)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct result *result = results->items[i];
		int r = write_series(folder, i, "actual", result->actual, diag);

		if (r == 0)
			r = write_series(folder, i, "predicted", result->predicted, diag);
		if (r < 0)
			return r;
	}
	return 0;
}

static int write_html(const char *folder, const struct verdict_report *report, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	int r = html_page_add(&text, report);
	return r < 0 ? write_failed(diag, "report.html", r)
		     : write_text(folder, "report.html", &text, diag);
}

int report_folder_write(const char *folder, const struct verdict_report *report, struct diag *diag)
{
	static const struct {
		const char *name;
		void (*add)(struct strbuf *out, const struct verdict_report *report);
	} texts[] = {
		{ "junit.xml", junit_xml_add },
		{ "report.md", markdown_add },
		{ "report.json", report_json_add },
	};

	int r = make_folders(folder, diag);
	if (r == 0)
		r = write_all_series(folder, report->results, diag);
	if (r == 0)
		r = write_html(folder, report, diag);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(texts); i++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

		texts[i].add(&text, report);
		r = write_text(folder, texts[i].name, &text, diag);
	}
	return r;
}
