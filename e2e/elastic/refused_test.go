// SPDX-License-Identifier: Apache-2.0

//go:build linux

package elastic_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/elastic"
	"github.com/nib-log/nib/e2e/receivers"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/layout"
	"github.com/nib-log/nib/sink/spool"
)

// TestDocumentsThatOpenSearchRefuses logs lines. OpenSearch refuses three:
// the pipeline refuses a value, the mapping a type, and with a pipeline
// two fields with one key are refused together with all documents around them.
// All others arrive. The three are kept, and the first one arrives after the
// pipeline was mended.
func TestDocumentsThatOpenSearchRefuses(t *testing.T) {
	server := receivers.StartOpenSearch(t)
	server.Put(t, "/_ingest/pipeline/orders",
		`{"processors":[{"convert":{"field":"amount","type":"integer","ignore_missing":true}}]}`)
	server.Put(t, "/"+receivers.Index, `{"mappings":{"properties":{"items":{"type":"long"}}}}`)

	dir := filepath.Join(t.TempDir(), "spool")
	out, err := elastic.New(server.URL(), receivers.Index, elastic.Config{Pipeline: "orders"})
	must.Succeed(t, err)
	report := func(err error) { t.Log(err) }
	s, err := spool.Open(dir, out, spool.Config{Name: "elastic", OnError: report})
	must.Succeed(t, err)
	refused := map[int]string{700: "pipeline", 1400: "mapping", 2100: "keys"}
	want := logOrders(nib.NewSink(s, nib.WithLayout(layout.ECS())), refused)
	must.Succeed(t, s.Flush(t.Context()))
	must.Succeed(t, s.Close())
	if got := messages(t, server); !maps.Equal(got, want) {
		t.Errorf("got %d documents, want %d, each once", len(got), len(want))
	}
	kept, err := os.ReadFile(filepath.Join(dir, "elastic.rejected"))
	must.Succeed(t, err)
	for i, reason := range refused {
		if !strings.Contains(string(kept), fmt.Sprintf(`"line %d"`, i)) {
			t.Errorf("the line that the %s refuses is not kept:\n%s", reason, kept)
		}
	}
	if n := strings.Count(string(kept), "\n"); n != len(refused) {
		t.Errorf("%d lines are kept, want %d:\n%s", n, len(refused), kept)
	}

	server.Put(t, "/_ingest/pipeline/orders", `{"processors":[]}`)
	to := "elastic+" + server.URL() + "/" + receivers.Index + "?pipeline=orders"
	args := []string{"run", ".", "relay", dir, "--rejected", "--to", to}
	relay := exec.CommandContext(t.Context(), "go", args...)
	relay.Dir = "../../cmd/nib"
	text, err := relay.CombinedOutput()
	t.Logf("nib relay --rejected: %v\n%s", err, text)
	want["line 700"] = 1
	if got := messages(t, server); !maps.Equal(got, want) {
		t.Errorf("after the pipeline was mended: got %d documents, want %d", len(got), len(want))
	}
}

// logOrders logs lines, and gives some of them what is refused. It returns how
// often each message is to arrive.
func logOrders(l *nib.Logger, refused map[int]string) (want map[string]int) {
	want = map[string]int{}
	for i := range 3000 {
		e := l.Info()
		switch refused[i] {
		case "pipeline":
			e.Str("amount", "much")
		case "mapping":
			e.Str("items", "many")
		case "keys":
			e.Int("n", 1).Int("n", 2)
		default:
			want[fmt.Sprint("line ", i)] = 1
		}
		e.Msgf("line %d", i)
	}
	return want
}

// messages counts the documents with each message.
func messages(t *testing.T, server *receivers.OpenSearch) map[string]int {
	t.Helper()
	found := map[string]int{}
	for a := range server.Arrivals(t) {
		found[a.Message]++
	}
	return found
}
