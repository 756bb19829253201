// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink"
)

func counted(c sink.SitesConfig, opts ...nib.Option) (*bench, *sink.SiteCounter) {
	b := new(bench)
	s := sink.Sites(&b.rec, c)
	b.logger(s, opts...)
	return b, s
}

func TestSitesCountsLinesAndBytesPerCallSite(t *testing.T) {
	b, s := counted(sink.SitesConfig{}, nib.WithCaller())
	small := func() { b.log.Info().Msg("x") }
	large := func() { b.log.Info().Str("s", strings.Repeat("x", 1000)).Msg("x") }
	for range 10 {
		small()
	}
	for range 3 {
		large()
	}
	want := map[bool]uint64{}
	for _, line := range b.rec.Lines() {
		want[len(line) > 1000] += uint64(len(line)) + 1
	}
	r := s.Report(10)
	if len(r.Sites) != 2 || r.Lines != 13 || r.Bytes != want[true]+want[false] || r.Other.Lines != 0 {
		t.Fatalf("got %+v", r)
	}
	for i, site := range r.Sites {
		lines, of, name := uint64(3), want[true], "func2"
		if i == 1 {
			lines, of, name = 10, want[false], "func1"
		}
		if site.Lines != lines || site.Bytes != of || site.Share != float64(of)/float64(r.Bytes) ||
			!strings.HasSuffix(site.Function, "TestSitesCountsLinesAndBytesPerCallSite."+name) ||
			!strings.HasSuffix(site.File, "sink/sites_test.go") || site.Line == 0 {
			t.Errorf("site %d: got %+v, want %d lines, %d bytes, %s", i, site, lines, of, name)
		}
	}
}

func TestSitesGoesByMessageWithoutCallSites(t *testing.T) {
	b, s := counted(sink.SitesConfig{})
	b.log.Info().Msg("a\n\"b\"")
	b.log.Info().Msg("a\n\"b\"")
	b.log.Info().Send()
	r := s.Report(-1)
	if len(r.Sites) != 2 || r.Sites[0].Message != "a\n\"b\"" || r.Sites[0].Lines != 2 || r.Sites[1].Message != "" {
		t.Errorf("got %+v", r.Sites)
	}
}

func TestSitesPage(t *testing.T) {
	var rec quiet
	s := sink.Sites(rec, sink.SitesConfig{})
	write := func(message, line string, n int) {
		for range n {
			_ = s.WriteRecord(&nib.Record{Line: []byte(line), Message: []byte(message)})
		}
	}
	write("hit", strings.Repeat("x", 10), 30)
	write(`\u001b[2J\u202e`, strings.Repeat("x", 100), 6)
	write("rare", "x", 99)
	write("rarer", "x", 1)
	_ = s.WriteRecord(&nib.Record{PC: 1, Line: make([]byte, 200)})
	want := `         bytes  share        lines  call site
           600  50.0%            6  "\x1b[2J\u202e"
           300  25.0%           30  "hit"
           200  16.7%            1  0x1
           100   8.3%          100  (all others)
          1200 100.0%          137  (all)
`
	if got := s.Report(3).String(); got != want {
		t.Errorf("text:\n got\n%s\nwant\n%s", got, want)
	}
	b, err := json.Marshal(s.Report(1))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), `{"lines":137,"bytes":1200,"sites":[{"message":"\u001b[2J`+"\u202e"+
		`","lines":6,"bytes":600,"share":0.5}],`+
		`"other":{"lines":131,"bytes":600,"share":0.5}}`; got != want {
		t.Errorf("JSON:\n got %s\nwant %s", got, want)
	}
	var back sink.SiteReport
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, s.Report(1)) {
		t.Errorf("got back %+v, error %v", back, err)
	}
}

func TestSitesOfNothing(t *testing.T) {
	s := sink.Sites(newQuiet(), sink.SitesConfig{})
	b, err := json.Marshal(s.Report(5))
	if want := `{"lines":0,"bytes":0,"sites":[],"other":{"lines":0,"bytes":0,"share":0}}`; err != nil || string(b) != want {
		t.Errorf("got %s, error %v", b, err)
	}
}

// For any number of messages the sum is exact, and the one with the most bytes
// is found.
func TestSitesFindsTheMostExpensiveOfMany(t *testing.T) {
	s := sink.Sites(newQuiet(), sink.SitesConfig{MaxSites: 16})
	rnd := rand.New(rand.NewPCG(5, 6))
	var lines, size uint64
	write := func(message string, n int) {
		lines++
		size += uint64(n)
		_ = s.WriteRecord(&nib.Record{Line: make([]byte, n), Message: []byte(message)})
	}
	for i := range 20_000 {
		write(fmt.Sprint("message ", i), 1+rnd.IntN(200))
		if i%10 == 0 {
			write("expensive", 150)
		}
	}
	r := s.Report(1)
	if r.Lines != lines || r.Bytes != size {
		t.Errorf("got %d lines and %d bytes in all, want %d and %d", r.Lines, r.Bytes, lines, size)
	}
	if r.Sites[0].Message != "expensive" || r.Sites[0].Lines > 2000 || r.Sites[0].Lines < 1900 {
		t.Errorf("the most expensive is %+v, want 2000 lines or few less", r.Sites[0])
	}
	if all := s.Report(-1); len(all.Sites) > 16 {
		t.Errorf("%d sites are remembered, want at most 16", len(all.Sites))
	}
}

func TestSitesCountsExactlyWithManyGoroutines(t *testing.T) {
	const goroutines, lines = 16, 1000
	s := sink.Sites(newQuiet(), sink.SitesConfig{})
	var wg sync.WaitGroup
	for range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range lines {
				_ = s.WriteRecord(&nib.Record{PC: uintptr(1 + i%10), Line: make([]byte, i%10)})
				if i%100 == 0 {
					s.Report(1)
				}
			}
		}()
	}
	wg.Wait()
	r := s.Report(-1)
	for _, site := range r.Sites {
		if site.Lines != goroutines*lines/10 {
			t.Errorf("got %+v, want %d lines", site, goroutines*lines/10)
		}
	}
	if len(r.Sites) != 10 || r.Lines != goroutines*lines || r.Bytes != goroutines*lines*45/10 {
		t.Errorf("got %d sites, %d lines, %d bytes", len(r.Sites), r.Lines, r.Bytes)
	}
	wantShown(t, s, "nib_sites", "nib_sites_bytes_total 72000", "nib_sites_lines_total 16000")
}

// A counter that falls, even once, is a restart to a monitoring system.
func TestReportOfSitesThatAreEvictedMissesNoLine(t *testing.T) {
	s := sink.Sites(newQuiet(), sink.SitesConfig{MaxSites: 4096})
	var written atomic.Uint64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for site := range 8000 {
			for range 50 {
				_ = s.WriteRecord(&nib.Record{PC: uintptr(1 + site), Line: []byte("\n")})
				written.Add(1)
			}
		}
	}()
	for {
		least := written.Load()
		if r := s.Report(0); r.Lines < least || r.Bytes < least {
			t.Errorf("got %d lines of %d bytes, want %d at least", r.Lines, r.Bytes, least)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestSitesConfigIsValidated(t *testing.T) {
	if err := (sink.SitesConfig{}).Validate(); err != nil {
		t.Error(err)
	}
	if got, want := text(sink.SitesConfig{MaxSites: -1}.Validate()), "nib/sink: MaxSites is -1, want 0 to 1048576"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
