// SPDX-License-Identifier: Apache-2.0

// device-plugin KUBELET-DIR RESOURCE ID... - a device plugin of a kubelet, with devices that do nothing.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

type plugin struct {
	api.UnimplementedDevicePluginServer
	devices []*api.Device
}

func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

func (p *plugin) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	if err := stream.Send(&api.ListAndWatchResponse{Devices: p.devices}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

func (p *plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for range request.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &api.ContainerAllocateResponse{})
	}
	return answer, nil
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "device-plugin:", err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) < 4 {
		fail(fmt.Errorf("usage: device-plugin KUBELET-DIR RESOURCE ID..."))
	}
	folder, endpoint := os.Args[1], "kepler-test.sock"
	served := &plugin{}
	for _, id := range os.Args[3:] {
		served.devices = append(served.devices, &api.Device{ID: id, Health: api.Healthy})
	}
	listener, err := net.Listen("unix", filepath.Join(folder, endpoint))
	fail(err)
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, served)
	go func() { fail(server.Serve(listener)) }()
	connection, err := grpc.NewClient("unix:"+filepath.Join(folder, "kubelet.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	fail(err)
	_, err = api.NewRegistrationClient(connection).Register(context.Background(),
		&api.RegisterRequest{Version: api.Version, Endpoint: endpoint, ResourceName: os.Args[2]})
	fail(err)
	fmt.Println("registered")
	select {}
}
