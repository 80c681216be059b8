module kepler-lab/device-plugin

go 1.26.0

require k8s.io/kubelet v0.36.3
