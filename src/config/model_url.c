// SPDX-License-Identifier: Apache-2.0
#include "config/model_url.h"

#include <errno.h>
#include <string.h>

#include "net/http_url.h"

size_t model_url_path_end(const char *url)
{
	return strcspn(url, "?#");
}

bool model_url_is_file(const char *url)
{
	static const char ending[] = ".json";
	size_t len = model_url_path_end(url), ending_len = sizeof(ending) - 1;

	return len > ending_len && strncasecmp(url + len - ending_len, ending, ending_len) == 0;
}

int model_url_check(const char *url, struct diag *diag)
{
	struct http_url parts;

	if (!*url)
		return 0;
	if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)
		return diag_set(diag, -EINVAL,
				"must be an http:// or https:// URL of a model server or of a file "
				"that ends in .json, not \"%.100s\"",
				url);
	http_url_split(url, &parts);
	if (!parts.host_len)
		return diag_set(diag, -EINVAL, "must have a host, not \"%.100s\"", url);
	if (http_url_has_user(url))
		return diag_set(diag, -EINVAL,
				"must have no user or password: model.token-file is for secrets");
	for (const char *c = url; *c; c++) {
		if (*c <= ' ' || *c > '~' || *c == '#')
			return diag_set(diag, -EINVAL,
					"must have no blanks, \"#\" or characters beyond ASCII, "
					"not \"%.100s\"",
					url);
	}
	return 0;
}

void model_url_join(const char *url, const char *path, struct strbuf *out)
{
	size_t len = model_url_path_end(url);

	while (len && url[len - 1] == '/')
		len--;
	strbuf_add(out, url, len);
	strbuf_add_str(out, path);
}
