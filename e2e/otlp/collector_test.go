// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// version is the version of the Collector.
const version = "0.160.0"

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

const collectorConfig = `receivers: {otlp: {protocols: {http: {endpoint: "%s"}}}}
exporters: {file: {path: "%s", append: true}}
service:
  telemetry: {metrics: {level: none}, logs: {level: error}}
  pipelines: {logs: {receivers: [otlp], exporters: [file]}}
`

// build returns the Collector, which is built once. The test is skipped if it
// cannot be fetched, or is not there and the run is a short one.
func build(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("needs a directory for the Collector: %v", err)
	}
	dir := filepath.Join(cache, "nib-e2e", "otelcol-"+version)
	program := filepath.Join(dir, "collector")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if os.Getenv("NIB_E2E") == "" {
		t.Skip("the Collector is not in the cache; NIB_E2E=short builds it")
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Skip(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "build")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(tmp)
	for name, text := range map[string]string{"go.mod": collectorModule, "main.go": collectorProgram} {
		if err := os.WriteFile(filepath.Join(tmp, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-mod=mod", "-o", "collector", ".")
	cmd.Dir, cmd.Env = tmp, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the Collector cannot be built: %v\n%s", err, out)
	}
	_ = os.RemoveAll(dir) // an incomplete one
	if err := os.Rename(tmp, dir); err != nil {
		t.Fatal(err)
	}
	return program
}

// A collector writes what it receives to a file.
type collector struct {
	program, config, out, addr string
	cmd                        *exec.Cmd
}

func startCollector(t testing.TB) *collector {
	t.Helper()
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{program: build(t), config: filepath.Join(dir, "config.yaml"), out: filepath.Join(dir, "out.json"), addr: l.Addr().String()}
	_ = l.Close()
	if err := os.WriteFile(c.config, fmt.Appendf(nil, collectorConfig, c.addr, c.out), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start(t)
	t.Cleanup(func() { c.stop(t) })
	return c
}

func (c *collector) start(t testing.TB) {
	t.Helper()
	c.cmd = exec.Command(c.program, "--config", c.config)
	c.cmd.Stderr = os.Stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; {
		if conn, err := net.Dial("tcp", c.addr); err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal("the Collector does not listen")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// stop ends the Collector with SIGTERM: its file exporter keeps what it has
// accepted in a buffer for a second, which it would lose with SIGKILL.
func (c *collector) stop(t testing.TB) {
	t.Helper()
	if c.cmd == nil {
		return
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	_ = c.cmd.Wait()
	c.cmd = nil
}
