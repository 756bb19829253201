// SPDX-License-Identifier: Apache-2.0

package request_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/sink"
)

// end runs one request to its end, and writes its event.
func end(p *request.Policy, l *nib.Logger, o request.Outcome, inside func(r *request.Request)) {
	var r request.Request
	r.Start(context.Background(), p, l, "", "")
	if inside != nil {
		inside(&r)
	}
	if e := r.End(o); e != nil {
		e.Str("route", o.Route)
		r.AddFields(e)
		e.Msg("request")
	}
}

// rules keeps failures of /pay, samples other requests at rates by route, and
// drops requests of /health.
func rules(o request.Outcome) (keep bool, oneIn int) {
	switch {
	case o.Route == "/health":
		return false, 0
	case o.Failed && o.Route == "/pay", o.Slow, o.Marked:
		return true, 0
	case o.Code == 404:
		return false, 50
	}
	return false, 10
}

// The weights of the events of a rate add up to the number of its requests.
func TestWeightsOfDecideAreExact(t *testing.T) {
	var rec nibtest.Recorder
	l := nib.NewSink(&rec)
	p := request.New(request.Config{Decide: rules, Slow: time.Second, Sample: 3})
	outcomes := []request.Outcome{
		{Route: "/pay", Failed: true}, {Route: "/pay"}, {Route: "/cart", Failed: true},
		{Route: "/none", Code: 404}, {Route: "/health"}, {Route: "/slow", Took: time.Second},
	}
	const each = 1000
	var group sync.WaitGroup
	for _, o := range outcomes {
		group.Add(1)
		go func() {
			defer group.Done()
			for range each {
				end(p, l, o, nil)
			}
		}()
	}
	group.Wait()
	weights, events := map[string]float64{}, map[string]int{}
	for _, line := range rec.FindAll("request") {
		route := line["route"].(string)
		weights[route] += line["sample_weight"].(float64)
		events[route]++
	}
	if weights["/pay"]+weights["/cart"] != 3*each || weights["/none"] != each ||
		weights["/slow"] != each {
		t.Errorf("got weights %v, want the numbers of requests", weights)
	}
	if events["/none"] != each/50 || events["/slow"] != each || events["/health"] != 0 {
		t.Errorf("got events %v", events)
	}
	if st := p.Stats(); st.Written+st.SampledOut != uint64(len(outcomes)*each) {
		t.Errorf("got %+v, want each request once", st)
	}
}

// What Decide keeps writes the lines that are held back; a panic keeps.
func TestDecideWritesHeldLines(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(request.Outcome) (bool, int)
		held   bool
	}{
		"keep":    {func(o request.Outcome) (bool, int) { return o.Marked, 1 }, true},
		"one":     {func(request.Outcome) (bool, int) { return false, 1 }, false},
		"panic":   {func(request.Outcome) (bool, int) { panic("rule") }, true},
		"nothing": {func(request.Outcome) (bool, int) { return false, -1 }, false},
	} {
		var rec nibtest.Recorder
		b := sink.Backtrace(&rec, sink.BacktraceConfig{})
		p := request.New(request.Config{Decide: c.decide, Backtrace: b})
		end(p, nib.NewSink(b), request.Outcome{}, func(r *request.Request) {
			nib.FromContext(r).Debug().Msg("held")
			request.Keep(r)
		})
		if got := rec.Find("held") != nil; got != c.held {
			t.Errorf("%s: held line written: %v, want %v", name, got, c.held)
		}
		if got := rec.Find("request") != nil; got != (name != "nothing") {
			t.Errorf("%s: event written: %v", name, got)
		}
	}
}

// Many rates take bounded memory, and keep their frequency.
func TestManyRatesOfDecide(t *testing.T) {
	var rec nibtest.Recorder
	n := 1
	rates := func(request.Outcome) (bool, int) { n++; return false, n }
	p := request.New(request.Config{Decide: rates})
	l := nib.NewSink(&rec)
	for range 5000 {
		end(p, l, request.Outcome{}, nil)
	}
	if got := rec.Len(); got > 100 { // about the sum of 1/n
		t.Errorf("got %d events of 5,000 requests at rates from 1 in 2 to 1 in 5,001", got)
	}
}
