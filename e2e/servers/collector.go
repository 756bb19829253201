// SPDX-License-Identifier: Apache-2.0

//go:build linux

package servers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// ErrNoCollector indicates that the Collector is not in the cache and cannot be
// built.
var ErrNoCollector = errors.New("needs the OpenTelemetry Collector")

// A Collector is a child process, the OpenTelemetry Collector, that receives
// OTLP over HTTP and appends it to files, a JSON object per request.
type Collector struct {
	Addr   string // host:port
	Logs   string // file of the logs
	Traces string // file of the spans

	program, config string
	cmd             *exec.Cmd
}

const collectorVersion = "0.160.0"

const collectorModule = `module collector

go 1.25.0

require (
	github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter v0.160.0
	go.opentelemetry.io/collector/component v1.66.0
	go.opentelemetry.io/collector/confmap v1.66.0
	go.opentelemetry.io/collector/confmap/provider/fileprovider v1.66.0
	go.opentelemetry.io/collector/exporter v1.66.0
	go.opentelemetry.io/collector/otelcol v0.160.0
	go.opentelemetry.io/collector/receiver v1.66.0
	go.opentelemetry.io/collector/receiver/otlpreceiver v0.160.0
	go.opentelemetry.io/collector/service v0.160.0
)
`

const collectorProgram = `package main

import (
	"log"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func main() {
	factories := func() (otelcol.Factories, error) {
		r, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
		if err != nil {
			return otelcol.Factories{}, err
		}
		x, err := otelcol.MakeFactoryMap[exporter.Factory](fileexporter.NewFactory())
		return otelcol.Factories{Receivers: r, Exporters: x, Telemetry: otelconftelemetry.NewFactory()}, err
	}
	settings := otelcol.CollectorSettings{BuildInfo: component.BuildInfo{Command: "collector"}, Factories: factories}
	settings.ConfigProviderSettings.ResolverSettings = confmap.ResolverSettings{
		ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()}, DefaultScheme: "file",
	}
	if err := otelcol.NewCommand(settings).Execute(); err != nil {
		log.Fatal(err)
	}
}
`

// collectorConfig has file exporters that write a request before it is
// answered: with rotation, they have no buffer.
const collectorConfig = `receivers: {otlp: {protocols: {http: {endpoint: "%s"}}}}
exporters: {file/logs: {path: "%s", rotation: {max_megabytes: 100000}}, file/traces: {path: "%s", rotation: {max_megabytes: 100000}}}
service:
  telemetry: {metrics: {level: none}, logs: {level: error}}
  pipelines:
    logs: {receivers: [otlp], exporters: [file/logs]}
    traces: {receivers: [otlp], exporters: [file/traces]}
`

// NewCollector sets a Collector up in dir. Start starts it. The program is
// built once, into the cache of the user, which takes 76 s; unless NIB_E2E is
// set, a missing program is an error.
func NewCollector(dir string) (*Collector, error) {
	program, err := buildCollector()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCollector, err)
	}
	addrs, err := UnusedAddresses(1)
	if err != nil {
		return nil, err
	}
	c := &Collector{
		Addr: addrs[0], Logs: filepath.Join(dir, "logs.json"),
		Traces:  filepath.Join(dir, "traces.json"),
		program: program, config: filepath.Join(dir, "collector.yaml"),
	}
	return c, os.WriteFile(c.config, fmt.Appendf(nil, collectorConfig, c.Addr, c.Logs, c.Traces),
		0o600)
}

// buildCollector returns the path of the program.
func buildCollector() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "nib-e2e", "otelcol-"+collectorVersion)
	program := filepath.Join(dir, "collector")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if os.Getenv("NIB_E2E") == "" {
		return "", errors.New("it is not in the cache; NIB_E2E=short builds it")
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "build")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	for name, text := range map[string]string{"go.mod": collectorModule,
		"main.go": collectorProgram} {
		if err := os.WriteFile(filepath.Join(tmp, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	cmd := exec.Command("go", "build", "-mod=mod", "-o", "collector", ".")
	cmd.Dir, cmd.Env = tmp, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil // another process has built it
	}
	_ = os.RemoveAll(dir) // an incomplete one
	return program, os.Rename(tmp, dir)
}

// Start starts it, at the same address again after Stop, and waits until it
// listens. The system kills it with the test.
func (c *Collector) Start() error {
	c.cmd = exec.Command(c.program, "--config", c.config)
	c.cmd.Stderr = os.Stderr
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", c.Addr); err == nil {
			return conn.Close()
		}
		if time.Now().After(deadline) {
			c.Stop()
			return errors.New("the Collector does not listen")
		}
	}
}

// Stop ends it by SIGTERM.
func (c *Collector) Stop() { c.end(syscall.SIGTERM) }

// Kill kills it by SIGKILL. The last request in a file may be incomplete.
func (c *Collector) Kill() { c.end(syscall.SIGKILL) }

func (c *Collector) end(with syscall.Signal) {
	if c.cmd == nil {
		return
	}
	_ = c.cmd.Process.Signal(with)
	_ = c.cmd.Wait()
	c.cmd = nil
}
