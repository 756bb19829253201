// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/httpsend"
	"github.com/nib-log/nib/target"
	"github.com/nib-log/nib/target/tlsfiles"
)

// Kind creates destinations for targets such as
// elastic+http://opensearch:9200/logs-app?spool=/var/spool/app. A program
// passes it to setup:
//
//	setup.Open(setup.FromEnv("NIB"), setup.Kinds(elastic.Kind))
//
// The password of a user is in the environment variable NIB_ELASTIC_PASSWORD,
// and an API key in headers_file, because targets are shown in errors and
// process lists.
var Kind = target.Spec{
	Forms: []string{"elastic+http://HOST:PORT/INDEX", "elastic+https://HOST:PORT/INDEX"},
	Doc: "an index or data stream of OpenSearch or Elasticsearch; the password of a user in " +
		"NIB_ELASTIC_PASSWORD",
	Params: func() target.Params { return new(params) },
}

// passwordVariable is the environment variable with the password.
const passwordVariable = "NIB_ELASTIC_PASSWORD"

// params are the parameters of an index.
type params struct {
	Config
	User        string `set:"user" default:"none" doc:"user that logs in"`
	HeadersFile string `set:"headers_file" default:"none" doc:"file with headers of requests, a line NAME: VALUE for each"`
	tlsfiles.Files
}

// config returns the Config of a target.
func (p *params) config(t target.Target) (Config, error) {
	c := p.Config
	c.Header = http.Header{}
	var faults []error
	var err error
	if p.HeadersFile != "" {
		if c.Header, err = httpsend.ReadHeaders(p.HeadersFile); err != nil {
			faults = append(faults, target.Fault("headers_file", err))
		}
	}
	if p.User != "" && err == nil {
		password := strings.TrimRight(os.Getenv(passwordVariable), "\r\n")
		if password == "" {
			faults = append(faults,
				target.Fault("user", fmt.Errorf("has no password: set %s", passwordVariable)))
		}
		c.Header.Set("Authorization",
			"Basic "+base64.StdEncoding.EncodeToString([]byte(p.User+":"+password)))
	}
	if c.reload, err = p.Load(); err != nil {
		faults = append(faults, err)
	} else if c.reload != nil {
		c.TLS, _ = c.reload()
	}
	if c.TLS != nil && t.Scheme == "elastic+http" {
		faults = append(faults,
			target.Fault("", errors.New("the parameters tls_ are for elastic+https")))
	}
	return c, errors.Join(faults...)
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
	c, err := p.config(t)
	if err != nil {
		return nil, err
	}
	server := strings.TrimPrefix(t.Scheme, "elastic+") + "://" + t.Host
	i := strings.LastIndexByte(t.Path, '/')
	return New(server+t.Path[:max(i, 0)], t.Path[i+1:], c)
}
