// SPDX-License-Identifier: Apache-2.0
#include "net/http_retry.h"

#include <sys/param.h>

#include "base/num.h"

enum http_outcome http_retry_outcome(int status, enum http_retry_rule rule)
{
	if (status == 0 || status == 429)
		return HTTP_LATER;
	if (status >= 200 && status < 300)
		return HTTP_ACCEPTED;
	if (rule == HTTP_RETRY_ALL_5XX)
		return status >= 500 ? HTTP_LATER : HTTP_REFUSED;
	return status >= 502 && status <= 504 ? HTTP_LATER : HTTP_REFUSED;
}

void http_retry_succeeded(struct http_retry *retry)
{
	retry->delay_ms = 0;
}

uint64_t http_retry_failed(struct http_retry *retry, uint64_t told_ms, uint32_t chance)
{
	uint64_t half, delay;

	retry->delay_ms =
		retry->delay_ms ? MIN(retry->delay_ms * 2, retry->max_ms) : retry->first_ms;
	half = retry->delay_ms / 2;
	delay = half + muldiv_u64(retry->delay_ms - half, chance, UINT32_MAX);
	return MAX(delay, MIN(told_ms, HTTP_RETRY_TOLD_MAX_MS));
}
