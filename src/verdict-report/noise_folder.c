// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/noise_folder.h"

#include <limits.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "verdict-report/noise_page.h"

int noise_report_write(const char *folder, const struct noise_report *report, struct diag *diag)
{
	static const struct {
		const char *name;
		void (*add)(struct strbuf *out, const struct noise_report *report);
	} files[] = { { "noise.html", noise_html_add },
		      { "noise.md", noise_markdown_add },
		      { "noise.json", noise_json_add } };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
		char path[PATH_MAX];

		files[i].add(&text, report);
		int r = strbuf_error(&text);
		if (r == 0)
			r = path_join(path, sizeof(path), folder, files[i].name);
		if (r == 0)
			r = write_file_atomic(path, text.data, text.len, 0644);
		if (r < 0)
			return diag_set(diag, r, "%s/%s: cannot be written: %s", folder,
					files[i].name, strerror(-r));
	}
	return 0;
}
