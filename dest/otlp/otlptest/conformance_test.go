// SPDX-License-Identifier: Apache-2.0

package otlptest

import (
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"testing"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/nibtest"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
)

var quiet = log.New(io.Discard, "", 0)

func TestConformance(t *testing.T) {
	for name, c := range map[string]otlp.Config{
		"plain": {}, "gzip": {Compression: "gzip"},
		"short requests": {MaxRequest: 4096},
	} {
		t.Run(name, func(t *testing.T) {
			nibtest.TestDestination(t, func(t testing.TB) (delivery.Destination, func() [][]byte) {
				s := &receiver{}
				server := httptest.NewServer(s)
				t.Cleanup(server.Close)
				d, err := otlp.New(server.URL+"/v1/logs", c)
				must.Succeed(t, err)
				return d, func() (lines [][]byte) {
					s.check(t)
					s.mu.Lock()
					defer s.mu.Unlock()
					for _, r := range s.arrived {
						lines = append(lines, lineOf(r))
					}
					return lines
				}
			})
		})
	}
}

// lineOf returns the line of the suite from which a record was made.
func lineOf(r *logspb.LogRecord) []byte {
	values := map[string]any{}
	for _, kv := range r.Attributes {
		values[kv.Key] = kv.Value.GetIntValue()
		if kv.Key == "fill" {
			values[kv.Key] = kv.Value.GetStringValue()
		}
	}
	return fmt.Appendf(nil, `{"level":%q,"g":%d,"n":%d,"fill":%q,"message":%q}`+"\n", r.SeverityText, values["g"], values["n"], values["fill"], r.Body.GetStringValue())
}
