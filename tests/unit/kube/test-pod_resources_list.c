// SPDX-License-Identifier: Apache-2.0
#include "kube/pods/pod_resources_list.h"

#include "podresources.h"
#include "tests/unit/unit.h"

struct taken {
	char text[4096];
};

static void take(void *userdata, const struct listed_device *device)
{
	struct taken *taken = userdata;
	size_t len = strlen(taken->text);

	(void)snprintf(taken->text + len, sizeof(taken->text) - len, "%zu %s/%s/%s %s %s %s\n",
		       device->container->number, device->container->namespace_,
		       device->container->pod, device->container->container, device->resource,
		       device->id, device->cdi);
}

static void end(struct strbuf *inner[4])
{
	for (size_t i = 0; i < 4; i++)
		strbuf_release(inner[i]);
}

/* As a kubelet of 1.36 writes it, but for names that come last, as the format permits. */
static void lists_devices_of_plugins_and_claims(void **state)
{
	struct strbuf list = STRBUF_INIT, pod = STRBUF_INIT, container = STRBUF_INIT;
	struct strbuf part = STRBUF_INIT, resource = STRBUF_INIT;
	struct strbuf *all[] = { &list, &pod, &container, &part };
	struct taken taken = { "" };

	add_text(&part, 1, "nvidia.com/gpu");
	add_text(&part, 2, "GPU-1::0");
	add_text(&part, 2, "GPU-1::1");
	add_field(&part, 3, "\x0a\0", 2); /* topology */
	add_text(&container, 1, "main");
	add_message(&container, 2, &part);
	add_field(&container, 3, "\0\1", 2); /* CPUs */
	add_text(&pod, 1, "train");
	add_text(&pod, 2, "prod");
	add_message(&pod, 3, &container);
	add_text(&container, 1, "idle");
	add_message(&pod, 3, &container);
	add_message(&list, 1, &pod);

	add_text(&part, 2, "claim");
	add_text(&resource, 2, "gpu.nvidia.com");
	add_text(&resource, 3, "node-1");
	add_text(&resource, 4, "gpu-0");
	add_field(&resource, 1, "\x0a\5a/b=c", 7);
	add_message(&part, 4, &resource);
	add_message(&container, 5, &part);
	add_text(&container, 1, "main");
	add_message(&pod, 3, &container);
	add_text(&pod, 2, "dev");
	add_text(&pod, 1, "claims");
	add_message(&list, 1, &pod);

	assert_int_equal(pod_resources_list(list.data, list.len, take, &taken), 0);
	assert_string_equal(taken.text, "1 prod/train/main nvidia.com/gpu GPU-1::0 \n"
					"1 prod/train/main nvidia.com/gpu GPU-1::1 \n"
					"3 dev/claims/main gpu.nvidia.com gpu-0 a/b=c\n");
	strbuf_release(&resource);
	end(all);
}

/* Bad entries are left out and counted, and the entries around them are not. */
static void what_is_bad_costs_itself(void **state)
{
	struct strbuf list = STRBUF_INIT, pod = STRBUF_INIT, container = STRBUF_INIT;
	struct strbuf part = STRBUF_INIT;
	struct strbuf *all[] = { &list, &pod, &container, &part };
	struct taken taken = { "" };
	char long_id[LISTED_ID_MAX + 2];

	memset(long_id, 'x', sizeof(long_id) - 1);
	long_id[sizeof(long_id) - 1] = '\0';
	add_text(&part, 1, "nvidia.com/gpu");
	add_text(&part, 2, "GPU 1"); /* 1: a blank */
	add_text(&part, 2, "");      /* 2: none */
	add_text(&part, 2, long_id); /* 3 */
	add_text(&part, 2, "GPU-2");
	add_text(&container, 1, "main");
	add_message(&container, 2, &part);
	add_field(&container, 2, "\x12", 1); /* 4: cut */
	add_text(&pod, 1, "train");
	add_text(&pod, 2, "prod");
	add_message(&pod, 3, &container);
	add_text(&container, 3, "nameless");
	add_message(&pod, 3, &container); /* 5 */
	add_message(&list, 1, &pod);
	add_text(&pod, 1, "nowhere");
	add_message(&list, 1, &pod);    /* 6 */
	add_field(&list, 1, "\xff", 1); /* 7 */
	assert_int_equal(pod_resources_list(list.data, list.len, take, &taken), 7);
	assert_string_equal(taken.text, "1 prod/train/main nvidia.com/gpu GPU-2 \n");
	strbuf_add_char(&list, '\xff');
	assert_int_equal(pod_resources_list(list.data, list.len, take, &taken), -EPROTO);
	end(all);
}

static void count(void *userdata, const struct listed_device *device)
{
	(void)device;
	++*(size_t *)userdata;
}

static void a_list_has_a_limit(void **state)
{
	struct strbuf list = STRBUF_INIT, pod = STRBUF_INIT, container = STRBUF_INIT;
	struct strbuf part = STRBUF_INIT;
	struct strbuf *all[] = { &list, &pod, &container, &part };
	size_t taken = 0;

	add_text(&part, 1, "nvidia.com/gpu");
	for (size_t i = 0; i < LISTED_DEVICES_MAX + 5; i++)
		add_text(&part, 2, "GPU-1");
	add_text(&container, 1, "main");
	add_message(&container, 2, &part);
	add_text(&pod, 1, "train");
	add_text(&pod, 2, "prod");
	add_message(&pod, 3, &container);
	add_message(&list, 1, &pod);
	assert_int_equal(pod_resources_list(list.data, list.len, count, &taken), 5);
	assert_int_equal(taken, LISTED_DEVICES_MAX);
	assert_int_equal(pod_resources_list(NULL, 0, count, &taken), 0);
	end(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_devices_of_plugins_and_claims),
		cmocka_unit_test(what_is_bad_costs_itself),
		cmocka_unit_test(a_list_has_a_limit),
	};

	return unit_run(tests);
}
