# SPDX-License-Identifier: Apache-2.0
"""Sets of values for the chart of deploy/helm: each part of it once, and all at once."""
# The form of the values file of upstream's chart, with its defaults (facts).
UPSTREAM = {
    "image": {"repository": "registry.example/kepler", "pullPolicy": "IfNotPresent", "tag": ""},
    "nameOverride": "", "fullnameOverride": "", "namespace": {"create": False, "name": "kepler"},
    "serviceAccount": {"create": True, "name": "kepler"}, "rbac": {"create": True},
    "service": {"type": "ClusterIP", "port": 28282, "targetPort": "http", "protocol": "TCP"},
    "daemonset": {
        "hostPID": True, "hostUsers": True, "nodeSelector": {}, "affinity": {}, "resources": {}, "startupProbe": {},
        "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}],
        "securityContext": {"privileged": True, "runAsNonRoot": False},
        "livenessProbe": {"httpGet": {"path": "/metrics", "port": "http"}, "initialDelaySeconds": 10, "periodSeconds": 60},
        "readinessProbe": {"httpGet": {"path": "/probe/readyz", "port": "http"}, "initialDelaySeconds": 5, "periodSeconds": 10},
        "nvidia": {"driverPath": "/run/nvidia/driver", "nvmlInitImage": {"repository": "busybox", "tag": "1.36.1"}}},
    "config": {
        "log": {"level": "debug", "format": "text"}, "host": {"sysfs": "/host/sys", "procfs": "/host/proc"},
        "monitor": {"interval": "5s", "staleness": "500ms", "maxTerminated": 100, "minTerminatedEnergyThreshold": 10},
        "cpu": {"preferredMeters": ["rapl", "hwmon"]}, "rapl": {"zones": []},
        "exporter": {"stdout": {"enabled": False}, "prometheus": {"enabled": True, "debugCollectors": ["go"]}},
        "web": {"configFile": "", "listenAddresses": [":28282"]}, "debug": {"pprof": {"enabled": False}},
        "kube": {"enabled": False, "config": "", "nodeName": "", "podInformer": {"mode": "kubelet", "pollInterval": "15s"}},
        "dev": {"fake-cpu-meter": {"enabled": False, "zones": []}},
        "experimental": {"platform": {"redfish": {"enabled": False, "configFile": "/etc/kepler/redfish.yaml", "nodeName": ""}},
                         "hwmon": {"forceEnabled": False, "zones": [], "chipRules": []},
                         "gpu": {"enabled": False, "idlePower": 0, "dcgmEndpoint": ""}}},
    "serviceMonitor": {"enabled": True, "interval": "5s", "path": "/metrics", "labels": {"release": "a"}, "annotations": {}},
    "networkPolicy": {"enabled": True, "ingress": [{"ports": [{"protocol": "TCP", "port": 28282}]}], "egress": []},
    "labels": {"team": "energy"}, "annotations": {},
}
EVERYTHING = {
    "namespace": {"create": True}, "priorityClass": {"create": True}, "deviceUsers": {"enabled": True}, "nvidia": {"enabled": True},
    "podResources": {"enabled": True}, "redfish": {"enabled": True}, "hmc": {"enabled": True}, "podMonitor": {"enabled": True},
    "serviceMonitor": {"enabled": True}, "networkPolicy": {"enabled": True, "egress": [{}]}, "state": {"onHost": True},
    "modelServer": {"enabled": True, "replicas": 2, "persistence": {"accessMode": "ReadWriteMany", "storageClass": "shared"},
                    "podDisruptionBudget": {"enabled": True}},
    "validator": {"enabled": True, "nodeName": "node-1"}, "rules": {"enabled": True}, "dashboards": {"enabled": True},
    "openshift": {"scc": True}, "rbac": {"nodesProxy": True}, "config": {"kube": {"pods": "kubelet", "pod-labels": "app,team"}},
}
SETS = {
    "defaults": {},
    "upstream": UPSTREAM,
    "kubelet": {"config": {"kube": {"pods": "kubelet"}}, "rbac": {"nodesProxy": True}},
    "no names": {"config": {"kube": {"pods": False}}, "rbac": {"create": False},
                 "serviceAccount": {"create": False, "name": "own"}},
    "everything": EVERYTHING,
    "gpus": {"nvidia": {"enabled": True}, "podResources": {"enabled": True}, "daemonset": {"nodeSelector": {"gpu": "yes"}}},
    "tls": {"web": {"existingSecret": "web", "tls": True}, "podMonitor": {
        "enabled": True, "tlsConfig": {"ca": {"secret": {"name": "web", "key": "ca.crt"}}}}, "validator": {"enabled": True}},
    "registry": {"image": {"repository": "registry.example:5000/a/kepler", "digest": "sha256:" + "0" * 64},
                 "imagePullSecrets": [{"name": "pull"}], "modelServer": {"enabled": True}, "fullnameOverride": "meter"},
    "placed": {"daemonset": {
        "tolerations": [], "priorityClassName": "system-node-critical", "extraArgs": ["--metrics.settle=0s"],
        "extraEnv": [{"name": "A", "value": "b"}], "extraCapabilities": ["SYS_RESOURCE"], "podAnnotations": {"a": "b"},
        "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}], "extraVolumeMounts": [{"name": "ca", "mountPath": "/ca"}],
        "securityContext": {"seLinuxOptions": {"type": "spc_t"}},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "virtual", "operator": "DoesNotExist"}]}]}}}}},
    "numbers": {"config": {"metrics": {"max-series": 2000000, "schema": "both"}, "monitor": {"max-processes": 1048576},
                           "web": {"listen-address": ["0.0.0.0:9102"]}}, "service": {"port": 9102}},
    "model elsewhere": {"modelServer": {"url": "https://models.example/"}},
}
