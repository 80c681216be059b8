// SPDX-License-Identifier: Apache-2.0
#include "net/http_upload.h"

#include <string.h>

#include "base/array.h"
#include "base/macro.h"

struct http_upload *http_upload_new(size_t max)
{
	struct http_upload *upload = calloc(1, sizeof(*upload));

	if (upload)
		upload->max = max;
	return upload;
}

static void give_up(struct http_upload *upload, bool *why)
{
	free(TAKE_PTR(upload->data));
	upload->len = upload->size = 0;
	*why = true;
}

void http_upload_add(struct http_upload *upload, const char *data, size_t len)
{
	if (upload->too_long || upload->failed)
		return;
	if (len > upload->max - upload->len)
		give_up(upload, &upload->too_long);
	else if (ARRAY_RESERVE(upload->data, upload->size, upload->len + len) < 0)
		give_up(upload, &upload->failed);
	else
		memcpy(upload->data + upload->len, data, len);
	if (upload->data)
		upload->len += len;
}

void http_upload_free(struct http_upload *upload)
{
	if (!upload)
		return;
	free(upload->data);
	free(upload);
}
