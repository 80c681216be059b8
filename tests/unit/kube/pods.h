/* SPDX-License-Identifier: Apache-2.0 */
/* Our own pods as the API server and the kubelet show them, with the values read from them. */
#pragma once

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ID_C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define ID_D "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
#define ID_E "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"

/* A Deployment's pod: init, ephemeral and two containers; one was restarted. */
#define POD_FULL                                                                                   \
	"{\"metadata\":{\"name\":\"shop-7d4b9c-x2x4z\",\"namespace\":\"prod\",\"uid\":\"uid-1\","  \
	"\"labels\":{\"app\":\"shop\",\"pod-template-hash\":\"7d4b9c\"},"                          \
	"\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"name\":\"shop-7d4b9c\","                  \
	"\"controller\":true}]},"                                                                  \
	"\"spec\":{\"nodeName\":\"node-1\",\"containers\":["                                       \
	"{\"name\":\"main\",\"image\":\"shop:1\",\"resources\":{\"requests\":{\"cpu\":\"100m\","   \
	"\"memory\":\"128Mi\"},\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}},"                   \
	"{\"name\":\"side\",\"image\":\"side:2\"}],"                                               \
	"\"initContainers\":[{\"name\":\"init\",\"image\":\"init:3\","                             \
	"\"resources\":{\"requests\":{\"cpu\":2}}}],"                                              \
	"\"ephemeralContainers\":[{\"name\":\"debug\",\"image\":\"debug:4\"}]},"                   \
	"\"status\":{\"qosClass\":\"Burstable\",\"containerStatuses\":["                           \
	"{\"name\":\"side\",\"image\":\"sha256:1\",\"containerID\":\"cri-o://" ID_B "\"},"         \
	"{\"name\":\"main\",\"containerID\":\"containerd://" ID_A "\",\"restartCount\":1,"         \
	"\"lastState\":{\"terminated\":{\"containerID\":\"containerd://" ID_E "\"}}}],"            \
	"\"initContainerStatuses\":[{\"name\":\"init\",\"containerID\":\"docker://" ID_C "\"}],"   \
	"\"ephemeralContainerStatuses\":[{\"name\":\"debug\",\"containerID\":\"" ID_D "\"}]}}"
