// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"cmp"
	"errors"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/httpsend"
	"github.com/nib-log/nib/layout"
	"github.com/nib-log/nib/target"
	"github.com/nib-log/nib/target/tlsfiles"
)

// Kind creates destinations for targets such as
// otlp+http://collector:4318?spool=/var/spool/app. A program passes it to
// setup:
//
//	setup.Open(setup.FromEnv("NIB"), setup.Kinds(otlp.Kind))
//
// The target otlp alone is the endpoint in the environment variables that
// [FromEnv] reads. The other variables apply to every target that has no
// parameter for the same purpose. Passwords and tokens are in
// OTEL_EXPORTER_OTLP_HEADERS or in headers_file, because targets are shown in
// errors and process lists.
var Kind = target.Spec{
	Forms:  []string{"otlp+http://HOST:PORT", "otlp+https://HOST:PORT", "otlp"},
	Doc:    "an OpenTelemetry receiver (OTLP/HTTP); otlp alone means OTEL_EXPORTER_OTLP_ENDPOINT",
	Params: func() target.Params { return new(params) },
}

// params are the parameters of a receiver.
type params struct {
	Config
	URLPath     string `set:"url_path" default:"/v1/logs" doc:"path of the URL"`
	Service     string `set:"service" default:"OTEL_SERVICE_NAME" doc:"service.name of the resource"`
	Layout      string `set:"layout" is:"nib|ecs|gcp|datadog|otel|zap|zerolog|slog|logrus" default:"nib" doc:"layout of the lines: which fields are time, level, message and logger"`
	HeadersFile string `set:"headers_file" default:"none" doc:"file with headers of requests, a line NAME: VALUE for each"`
	tlsfiles.Files
}

// layouts are the values of the parameter layout.
var layouts = map[string]func() nib.Layout{
	"ecs": layout.ECS, "gcp": layout.GCP, "datadog": layout.Datadog, "otel": layout.OTel, "zap": layout.Zap,
	"zerolog": layout.Zerolog, "slog": layout.Slog, "logrus": layout.Logrus,
}

// config returns the URL and the Config of a target.
func (p *params) config(t target.Target) (string, Config, error) {
	c, err := commonFromEnv()
	faults := []error{err}
	url := strings.TrimPrefix(t.Scheme, "otlp+") + "://" + t.Host + cmp.Or(p.URLPath, logsPath)
	if t.Host == "" {
		if url, err = endpointFromEnv(); err != nil {
			faults = append(faults, err)
		}
		if p.URLPath != "" {
			faults = append(faults,
				target.Fault("url_path", errors.New("is for a target with a host")))
		}
	}
	if p.URLPath != "" && !strings.HasPrefix(p.URLPath, "/") {
		faults = append(faults, target.Fault("url_path", errors.New("does not begin with a slash")))
	}
	if p.Service != "" {
		c.Resource[serviceName] = p.Service
	}
	if l := layouts[p.Layout]; l != nil {
		c.Layout = l()
	}
	if p.Compression != "" {
		c.Compression = p.Compression
	}
	if p.HeadersFile != "" {
		if c.Header, err = httpsend.ReadHeaders(p.HeadersFile); err != nil {
			faults = append(faults, target.Fault("headers_file", err))
		}
	}
	c.MaxRequest = p.MaxRequest
	if p.Timeout != 0 {
		c.Timeout = p.Timeout
	}
	files, err := p.Load()
	if err != nil {
		faults = append(faults, err)
	} else if files != nil {
		c.reload = files
		c.TLS, _ = files()
	}
	if !strings.HasPrefix(url, "https:") {
		if files != nil {
			faults = append(faults,
				target.Fault("", errors.New("the parameters tls_ are for otlp+https")))
		}
		c.TLS, c.reload = nil, nil // the variables may be for other signals
	}
	return url, c, errors.Join(faults...)
}

// Validate implements [target.Params].
func (p *params) Validate(t target.Target) error {
	d, err := p.open(t)
	if err != nil {
		return err
	}
	return d.Close()
}

// Open implements [target.Params].
func (p *params) Open(t target.Target) (delivery.Destination, error) { return p.open(t) }

func (p *params) open(t target.Target) (*Destination, error) {
	url, c, err := p.config(t)
	if err != nil {
		return nil, err
	}
	return New(url, c)
}
