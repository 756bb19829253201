// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib/target/tlsfiles"
)

const (
	envPrefix       = "OTEL_EXPORTER_OTLP_"
	envLogs         = envPrefix + "LOGS_"
	defaultEndpoint = "http://localhost:4318"
	logsPath        = "/v1/logs"
	protocol        = "http/protobuf"
	serviceName     = "service.name"
)

// FromEnv returns the URL and the Config from the environment variables of
// OpenTelemetry (https://opentelemetry.io/docs/specs/otel/protocol/exporter/):
// OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT, _COMPRESSION, _CERTIFICATE,
// _CLIENT_CERTIFICATE, _CLIENT_KEY and _PROTOCOL, each also as
// OTEL_EXPORTER_OTLP_LOGS_…, which has precedence, and OTEL_RESOURCE_ATTRIBUTES
// and OTEL_SERVICE_NAME. The protocol is always http/protobuf; another one is
// an error. The error joins one for each variable that cannot be used, and
// quotes no values of headers.
func FromEnv() (url string, c Config, err error) {
	c, err = commonFromEnv()
	url, endpointErr := endpointFromEnv()
	if strings.HasPrefix(url, "http:") {
		c.TLS, c.reload = nil, nil // the variables may be for other signals
	}
	return url, c, errors.Join(endpointErr, err)
}

// lookup returns the value of a variable, preferring the one for logs, and the
// variable's name.
func lookup(name string) (value, variable string) {
	for _, prefix := range []string{envLogs, envPrefix} {
		if value = strings.TrimSpace(os.Getenv(prefix + name)); value != "" {
			return value, prefix + name
		}
	}
	return "", ""
}

func envFault(variable, format string, values ...any) error {
	return fmt.Errorf("nib/otlp: "+variable+": "+format, values...)
}

// endpointFromEnv returns the URL. To the URL for all signals it appends the
// path of logs.
func endpointFromEnv() (string, error) {
	endpoint, variable := lookup("ENDPOINT")
	if endpoint == "" {
		endpoint = defaultEndpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", envFault(variable, "want a URL like http://HOST:4318")
	}
	if variable != envLogs+"ENDPOINT" {
		u = u.JoinPath(logsPath)
	}
	if p, variable := lookup("PROTOCOL"); p != "" && p != protocol {
		return "", envFault(variable, "%q is not supported (want %s)", p, protocol)
	}
	return u.String(), nil
}

// commonFromEnv returns the Config from the environment.
func commonFromEnv() (c Config, err error) {
	var faults []error
	fault := func(variable, format string, values ...any) {
		faults = append(faults, envFault(variable, format, values...))
	}
	if text, variable := lookup("TIMEOUT"); text != "" {
		ms, err := strconv.ParseUint(text, 10, 31)
		if c.Timeout = time.Duration(ms) * time.Millisecond; err != nil || ms == 0 {
			fault(variable, "want milliseconds, got %q", text)
		}
	}
	if text, variable := lookup("COMPRESSION"); text != "" {
		if c.Compression = text; !slices.Contains(compressions, text) {
			fault(variable, "want none or gzip, got %q", text)
		}
	}
	if text, variable := lookup("HEADERS"); text != "" {
		pairs, err := parsePairs(text)
		if err != nil {
			fault(variable, "%w", err)
		}
		c.Header = http.Header{}
		for k, v := range pairs {
			c.Header.Set(k, v)
		}
	}
	if c.reload, err = tlsFromEnv(); err != nil {
		faults = append(faults, err)
	} else if c.reload != nil {
		c.TLS, _ = c.reload()
	}
	c.Resource, err = parsePairs(os.Getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		fault("OTEL_RESOURCE_ATTRIBUTES", "%w", err)
	}
	name := cmp.Or(strings.TrimSpace(os.Getenv("OTEL_SERVICE_NAME")), c.Resource[serviceName],
		"unknown_service:"+filepath.Base(os.Args[0]))
	if c.Resource == nil {
		c.Resource = map[string]string{}
	}
	c.Resource[serviceName] = name
	return c, errors.Join(faults...)
}

// tlsFromEnv reads the files of certificates.
func tlsFromEnv() (func() (*tls.Config, error), error) {
	var f tlsfiles.Files
	var last string
	for name, to := range map[string]*string{"CERTIFICATE": &f.CA, "CLIENT_CERTIFICATE": &f.Cert,
		"CLIENT_KEY": &f.Key} {
		var variable string
		if *to, variable = lookup(name); *to != "" {
			last = max(last, variable)
		}
	}
	c, err := f.Load()
	if err != nil {
		return nil, envFault(last, "%w", err)
	}
	return c, nil
}

// parsePairs reads key=value pairs, separated by commas and percent-encoded.
// Its error does not quote them.
func parsePairs(text string) (map[string]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	pairs := map[string]string{}
	for i, pair := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		key, keyErr := url.PathUnescape(strings.TrimSpace(key))
		value, err := url.PathUnescape(strings.TrimSpace(value))
		switch {
		case strings.TrimSpace(pair) == "":
			continue
		case !ok || key == "" || errors.Join(keyErr, err) != nil:
			return pairs, fmt.Errorf("pair %d is not key=value with percent-encoding", i+1)
		}
		pairs[key] = value
	}
	return pairs, nil
}
