// SPDX-License-Identifier: Apache-2.0
/* From a pod's controller to the workload that the user created. */
#include "kube/pods/pod_workload.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

#define DAY_S             86400
#define CRON_EARLY_S      DAY_S        /* clocks differ */
#define CRON_LATE_S       (30 * DAY_S) /* a pod may be made again while the Job retries */
#define STATIC_UID_LENGTH 32           /* MD5 in hexadecimal, pkg/kubelet/config */

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static const json_t *find_controller(const json_t *metadata)
{
	const json_t *owners = json_object_get(metadata, "ownerReferences"), *owner;
	size_t i;

	json_array_foreach(owners, i, owner)
	{
		if (json_is_true(json_object_get(owner, "controller")) && text_of(owner, "kind") &&
		    text_of(owner, "name"))
			return owner;
	}
	return NULL;
}

static bool parse_field(const char *text, size_t len, int64_t max, int64_t *ret)
{
	uint64_t value;

	if (parse_u64(text, len, &value) < 0 || value > (uint64_t)max)
		return false;
	*ret = (int64_t)value;
	return true;
}

/* Days since 1970-01-01 in the Gregorian calendar; years begin in March: leap days end them. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t shifted = month > 2 ? year : year - 1, month_from_march = (month + 9) % 12;
	int64_t leap_days = shifted / 4 - shifted / 100 + shifted / 400;

	return shifted * 365 + leap_days + (month_from_march * 153 + 2) / 5 + day - 1 - 719468;
}

int pod_parse_time(const char *text, int64_t *ret_s)
{
	int64_t year, month, day, hour, minute, second;

	if (strlen(text) != 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' ||
	    text[13] != ':' || text[16] != ':' || text[19] != 'Z')
		return -EINVAL;
	if (!parse_field(text, 4, 9999, &year) || !parse_field(text + 5, 2, 12, &month) ||
	    !parse_field(text + 8, 2, 31, &day) || !parse_field(text + 11, 2, 23, &hour) ||
	    !parse_field(text + 14, 2, 59, &minute) || !parse_field(text + 17, 2, 60, &second) ||
	    year < 1970 || month < 1 || day < 1)
		return -EINVAL;
	*ret_s = days_of(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second;
	return 0;
}

/* Is "-DIGITS" at the end of a Job's name the time at which a CronJob made it? */
static bool is_cron_time(const char *digits, const json_t *metadata)
{
	const char *created = text_of(metadata, "creationTimestamp");
	size_t len = strlen(digits);
	int64_t created_s, scheduled_s;

	if ((len != 8 && len != 10) || !created || pod_parse_time(created, &created_s) < 0 ||
	    !parse_field(digits, len, 9999999999, &scheduled_s))
		return false;
	if (len == 8)
		scheduled_s *= 60;
	return created_s >= scheduled_s - CRON_EARLY_S && created_s <= scheduled_s + CRON_LATE_S;
}

/* @name without "-@suffix"; its length, or 0 where it does not end so or nothing would be left. */
static size_t length_without(const char *name, const char *suffix)
{
	size_t len = strlen(name), cut = suffix ? strlen(suffix) + 1 : 0;

	if (cut <= 1 || len <= cut || name[len - cut] != '-' ||
	    strcmp(name + len - cut + 1, suffix) != 0)
		return 0;
	return len - cut;
}

static const char *annotation(const json_t *pod, const char *key)
{
	const json_t *metadata = json_object_get(pod, "metadata");

	return text_of(json_object_get(metadata, "annotations"), key);
}

static bool belongs_to_node(const json_t *pod)
{
	const json_t *owner = find_controller(json_object_get(pod, "metadata"));
	const char *kind = owner ? text_of(owner, "kind") : NULL;

	return kind && strcmp(kind, "Node") == 0;
}

const char *pod_static_uid(const json_t *pod)
{
	const char *hash = annotation(pod, "kubernetes.io/config.hash");
	const char *mirror = annotation(pod, "kubernetes.io/config.mirror");

	if (!hash || !mirror || strcmp(hash, mirror) != 0 || !belongs_to_node(pod) ||
	    strlen(hash) != STATIC_UID_LENGTH ||
	    strspn(hash, "0123456789abcdef") != STATIC_UID_LENGTH)
		return NULL;
	return hash;
}

/* As the kubelet shows it ("file", "http"), or as the API server's mirror. */
static bool is_static(const json_t *pod, const json_t *controller)
{
	const char *source = annotation(pod, "kubernetes.io/config.source");

	if (pod_static_uid(pod))
		return true;
	return !controller && source &&
	       (strcmp(source, "file") == 0 || strcmp(source, "http") == 0);
}

static int answer(struct pod_workload *ret, const char *name, size_t len, const char *type)
{
	ret->name = strndup(name, len);
	ret->type = type;
	return ret->name ? 0 : -ENOMEM;
}

static int from_pod(const json_t *pod, const json_t *controller, struct pod_workload *ret)
{
	const char *name = text_of(json_object_get(pod, "metadata"), "name");
	const char *node = text_of(json_object_get(pod, "spec"), "nodeName");
	size_t len = length_without(name, node);

	if (is_static(pod, controller))
		return answer(ret, name, len ? len : strlen(name), "StaticPod");
	return answer(ret, name, strlen(name), "Pod");
}

int pod_workload_read(const json_t *pod, struct pod_workload *ret)
{
	const json_t *metadata = json_object_get(pod, "metadata");
	const json_t *controller = find_controller(metadata);
	const char *kind, *name, *dash;
	size_t len;

	if (!controller || is_static(pod, controller))
		return from_pod(pod, controller, ret);
	kind = text_of(controller, "kind");
	name = text_of(controller, "name");
	if (strcmp(kind, "ReplicaSet") == 0) {
		len = length_without(
			name, text_of(json_object_get(metadata, "labels"), "pod-template-hash"));
		if (len)
			return answer(ret, name, len, "Deployment");
	}
	dash = strrchr(name, '-');
	if (strcmp(kind, "Job") == 0 && dash > name && is_cron_time(dash + 1, metadata))
		return answer(ret, name, (size_t)(dash - name), "CronJob");
	return answer(ret, name, strlen(name), kind);
}
