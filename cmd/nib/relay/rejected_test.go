// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/deadletter"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool"
)

// withRejected makes a spool whose destination has rejected each line with an
// odd number, and returns its file.
func withRejected(t *testing.T, lines int) (dir, file string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a")
	p := refusing(func(batch []nib.Record) (delivery.Result, error) {
		res := delivery.Result{Accepted: len(batch)}
		for i, r := range batch {
			if r.Seq%2 == 1 {
				res.Rejected = append(res.Rejected, delivery.Rejection{Index: i, Reason: errAway})
			}
		}
		return res, nil
	})
	s := openSpool(t, dir, p, spool.Config{Name: "es", SegmentSize: 64 << 10, OnFull: wait})
	log := nib.NewSink(s).Named("db")
	for n := range lines {
		log.Warn().Int("n", n).Msg("m")
	}
	must(t, s.Close())
	return dir, filepath.Join(dir, "es.rejected")
}

// A catcher keeps records, and rejects some of them.
type catcher struct {
	records []nib.Record
	refuse  func(r *nib.Record) error
	fail    error
}

func (c *catcher) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	res := delivery.Result{Accepted: len(batch)}
	if c.fail != nil {
		return delivery.Result{}, c.fail
	}
	for i := range batch {
		if c.refuse != nil && c.refuse(&batch[i]) != nil {
			res.Rejected = append(res.Rejected, delivery.Rejection{Index: i, Reason: c.refuse(&batch[i])})
			continue
		}
		c.records = append(c.records, batch[i])
	}
	return res, nil
}

func rejectedConfig(dir string, c *catcher) Config {
	return Config{
		Root: dir, DeliverTimeout: time.Nanosecond, Report: newReports("").report,
		Targets: []Target{{Text: "far", Open: func([]byte) (delivery.Destination, error) { return c, nil }}},
	}
}

// Rejected records are delivered with the time, the level and the identity that
// they had, and their file is gone.
func TestRejectedAreDeliveredAgain(t *testing.T) {
	dir, file := withRejected(t, 3000)
	text, err := os.ReadFile(file)
	must(t, err)
	want := strings.Count(string(text), "\n")
	c := &catcher{}
	n, err := Rejected(context.Background(), rejectedConfig(dir, c))
	if err != nil || n != (Counts{Delivered: uint64(want)}) || len(c.records) != want || want < 1400 {
		t.Fatalf("got %+v, %d records of %d and %v", n, len(c.records), want, err)
	}
	last := uint64(0)
	for i, r := range c.records {
		if strings.Contains(string(r.Line), "lines lost: the spool dropped them") { // its own notice
			continue
		}
		was := last
		if last = r.Seq; r.Seq%2 != 1 || r.Seq <= was || r.Level != nib.LevelWarn ||
			r.Logger != "db" || r.Spool == 0 || r.Spool != c.records[0].Spool ||
			time.Since(time.Unix(0, r.Time)) > time.Hour || !strings.HasSuffix(string(r.Line), `"message":"m"}`+"\n") {
			t.Fatalf("record %d: %+v, line %s", i, r, r.Line)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "es.re*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there")
	}
}

// Lines that are rejected again or cannot be delivered go back, and so does a
// line that is cut off.
func TestRejectedAgainGoesBack(t *testing.T) {
	dir, file := withRejected(t, 10)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"seq":1,"rea` + "\n")
	must(t, errors.Join(err, f.Close()))
	c := &catcher{refuse: func(r *nib.Record) error {
		if r.Seq == 5 {
			return errors.New("still <bad>")
		}
		return nil
	}}
	n, err := Rejected(context.Background(), rejectedConfig(dir, c))
	text, _ := os.ReadFile(file)
	if err != nil || n != (Counts{Delivered: 4, Rejected: 1, Damaged: 1}) ||
		strings.Count(string(text), "\n") != 2 ||
		!strings.Contains(string(text), `"reason":"still <bad>"`) || !strings.Contains(string(text), `{"seq":1,"rea`) {
		t.Errorf("got %+v, %v and\n%s", n, err, text)
	}
	c.fail = errAway
	n, err = Rejected(context.Background(), rejectedConfig(dir, c))
	text, _ = os.ReadFile(file)
	if !errors.Is(err, errAway) || n != (Counts{Pending: 1, Damaged: 1}) ||
		strings.Count(string(text), "\n") != 2 {
		t.Errorf("without a destination: got %+v, %v and\n%s", n, err, text)
	}
	c.fail, c.refuse = nil, nil
	if n, err = Rejected(context.Background(), rejectedConfig(dir, c)); err != nil ||
		n != (Counts{Delivered: 1, Damaged: 1}) {
		t.Errorf("at last: got %+v and %v", n, err)
	}
}

// A rising destination has all records with numbers up to its last one.
type rising struct {
	to   *catcher
	last map[uint64]uint64 // by Spool
}

func (c rising) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	for _, r := range batch {
		if r.Seq < c.last[r.Spool] || r.Spool != batch[0].Spool {
			return delivery.Result{Accepted: len(batch)}, nil
		}
		c.last[r.Spool] = r.Seq
	}
	return c.to.Deliver(ctx, batch)
}

// Records that were put back are below newer ones in the file.
func TestRejectedOutOfOrder(t *testing.T) {
	dir, file := withRejected(t, 10)
	var text []byte
	places := []struct{ spool, seq uint64 }{
		{1, 7}, {1, 9}, {1, 3}, {1, 5}, {2, 1}, {1, 6}, {1, 1}, {2, 1},
	}
	for _, p := range places {
		r := nib.Record{Spool: p.spool, Seq: p.seq, Line: []byte("{}\n")}
		text = deadletter.Append(text, &deadletter.Entry{Record: r})
	}
	must(t, os.WriteFile(file, text, 0o600))
	c := &catcher{}
	config := rejectedConfig(dir, c)
	config.Targets[0].Open = func([]byte) (delivery.Destination, error) {
		return rising{c, map[uint64]uint64{}}, nil
	}
	n, err := Rejected(context.Background(), config)
	if want := len(places); err != nil || n.Delivered != uint64(want) || len(c.records) != want {
		t.Errorf("got %+v, %d of %d records and %v", n, len(c.records), want, err)
	}
}

// A marking destination has a mark.
type marking struct{ *place }

func (marking) Mark() []byte { return []byte("round robin") }

func (marking) Resume(context.Context, []byte, []nib.Record) (int, error) { return 0, nil }

func TestRejectedAreOpenedWithTheMark(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	p := refusing(func([]nib.Record) (delivery.Result, error) {
		return delivery.Result{Accepted: 1, Rejected: []delivery.Rejection{{Reason: errAway}}}, nil
	})
	s := openSpool(t, dir, marking{p}, spool.Config{Name: "es"})
	nib.NewSink(s).Info().Msg("m")
	must(t, s.Close())
	c := rejectedConfig(dir, &catcher{})
	open, mark := c.Targets[0].Open, ""
	c.Targets[0].Open = func(m []byte) (delivery.Destination, error) {
		mark = string(m)
		return open(m)
	}
	n, err := Rejected(context.Background(), c)
	if err != nil || n.Delivered != 1 || mark != "round robin" {
		t.Errorf("got %+v, %v and the mark %q", n, err, mark)
	}
}

// A run that was killed has left the file under its other name; the service has
// written a new one since.
func TestRejectedAfterAKilledRun(t *testing.T) {
	dir, file := withRejected(t, 10)
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "es.retry"), text, 0o600))
	c := &catcher{}
	for range 2 {
		if n, err := Rejected(context.Background(), rejectedConfig(dir, c)); err != nil || n.Delivered != 5 {
			t.Fatalf("got %+v and %v", n, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "es.re*")); len(left) > 0 || len(c.records) != 10 {
		t.Errorf("%q are left, %d records delivered", left, len(c.records))
	}
}

// A destination finds the message of a record that was rejected under any key,
// as at the first delivery.
func TestRejectedKeepTheirMessage(t *testing.T) {
	dir, _ := withRejected(t, 10)
	c := &catcher{refuse: func(r *nib.Record) error {
		if r.Seq == 3 {
			return errAway
		}
		return nil
	}}
	for range 2 { // the second run reads the lines that the first one has put back
		if _, err := Rejected(context.Background(), rejectedConfig(dir, c)); err != nil {
			t.Fatal(err)
		}
		c.refuse = nil
	}
	for _, r := range c.records {
		if at := len(r.Line) - 4; string(r.Message) != "m" || &r.Message[0] != &r.Line[at] {
			t.Errorf("record %d has the message %q, which is not the one in its line %s", r.Seq, r.Message, r.Line)
		}
	}
	if len(c.records) != 5 {
		t.Errorf("got %d records, want 5", len(c.records))
	}
}

// A killer ends the run in a call of Deliver.
type killer struct {
	catcher
	calls int // until then
}

func (k *killer) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	if k.calls--; k.calls < 0 {
		panic(k)
	}
	return k.catcher.Deliver(ctx, batch)
}

// After a run was killed, the next one continues with the records that had no
// answer. Records rejected again before are not delivered a third time.
func TestRejectedContinueAfterAKilledRun(t *testing.T) {
	const lines = 2*2*retryRecords + 1000
	for kills := range 4 {
		dir, file := withRejected(t, lines)
		text, err := os.ReadFile(file)
		must(t, err)
		total := strings.Count(string(text), "\n")
		again := func(r *nib.Record) error {
			if r.Seq == 5 {
				return errors.New("still bad")
			}
			return nil
		}
		k := &killer{catcher{refuse: again}, kills}
		config := rejectedConfig(dir, &k.catcher)
		config.Targets[0].Open = func([]byte) (delivery.Destination, error) { return k, nil }
		func() {
			defer func() { _ = recover() }()
			_, _ = Rejected(context.Background(), config)
		}()
		before := len(k.records)
		c := &catcher{refuse: again}
		_, err = Rejected(context.Background(), rejectedConfig(dir, c))
		must(t, err)
		left, _ := os.ReadFile(file)
		if got := before + len(c.records); got != total-1 || strings.Count(string(left), "\n") != 1 || strings.Contains(string(left), errAway.Error()) {
			t.Errorf("killed in call %d: %d and %d of %d records delivered, left\n%s", kills+1, before, len(c.records), total, left)
		}
		if names, _ := filepath.Glob(filepath.Join(dir, "es.re*")); len(names) != 1 {
			t.Errorf("killed in call %d: %q are left", kills+1, names)
		}
	}
}

// A second run finds the file in use, and does not touch it.
func TestRejectedIsDeliveredByOneRun(t *testing.T) {
	dir, file := withRejected(t, 10)
	c, other := &catcher{}, &catcher{}
	c.refuse = func(*nib.Record) error {
		c.refuse = nil
		if _, err := Rejected(context.Background(), rejectedConfig(dir, other)); !errors.Is(err, errInUse) {
			t.Errorf("got %v, want that another run has the file", err)
		}
		return nil
	}
	if n, err := Rejected(context.Background(), rejectedConfig(dir, c)); err != nil || n.Delivered != 5 || len(other.records) > 0 {
		t.Errorf("got %+v, %v and %d records in the second run", n, err, len(other.records))
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there")
	}
}

// A service appends rejected lines while runs move their file away: none is
// lost.
func TestRejectedWhileTheServiceAppends(t *testing.T) {
	const lines = 5000
	dir := filepath.Join(t.TempDir(), "a")
	all := refusing(func([]nib.Record) (delivery.Result, error) { // one at a time: the file is opened for each
		return delivery.Result{Accepted: 1, Rejected: []delivery.Rejection{{Reason: errAway}}}, nil
	})
	s := openSpool(t, dir, all, spool.Config{Name: "es", OnFull: wait, Drain: 10 * time.Minute})
	done := make(chan error)
	go func() {
		log := nib.NewSink(s)
		for n := range lines {
			log.Warn().Int("n", n).Msg("m")
		}
		done <- s.Close()
	}()
	to := &catcher{}
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			running = false
		default:
		}
		c := rejectedConfig(dir, to)
		c.DeliverTimeout = time.Minute
		if _, err := Rejected(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[uint64]int{}
	for _, r := range to.records {
		seen[r.Seq]++
	}
	if len(seen) != lines {
		t.Errorf("%d of %d rejected lines were delivered", len(seen), lines)
	}
}

// A service that is stopped while it appends keeps its file: the run ends, and
// the next one delivers the records.
func TestRejectedOfAStoppedServiceStay(t *testing.T) {
	dir, file := withRejected(t, 10)
	f, err := vfs.OS().Open(file, os.O_RDWR|os.O_APPEND, 0)
	must(t, err)
	if err := f.Lock(vfs.Shared); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	c := &catcher{}
	if n, err := Rejected(context.Background(), rejectedConfig(dir, c)); n.Delivered != 0 || err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("got %+v, %v, want an error that says why", n, err)
	}
	must(t, f.Close())
	if n, err := Rejected(context.Background(), rejectedConfig(dir, c)); n.Delivered != 5 || err != nil {
		t.Errorf("the second run: got %+v, %v", n, err)
	}
}

// Lines that look like a part of the file of rejected records are delivered
// again as they were, with their own identities.
func TestRejectedLinesCannotForgeRecords(t *testing.T) {
	lines := []string{
		`{"a":1},"seq":99,"spool":"00000000000000ff","line":{"b":2}`, `{"a":1},"line":{"b":2}`,
		`{a}`, `{"a":1}}`, `{"a":1,}`, "{\"a\":\"\xff\"}", "{ \"a\": 1 }", `"a"`, "null",
		"{\r}",
	}
	dir := filepath.Join(t.TempDir(), "a")
	s := openSpool(t, dir, refusing(func(batch []nib.Record) (delivery.Result, error) {
		res := delivery.Result{Accepted: len(batch)}
		for i := range batch {
			res.Rejected = append(res.Rejected, delivery.Rejection{Index: i, Reason: errAway})
		}
		return res, nil
	}), spool.Config{Name: "es"})
	for _, line := range lines {
		must(t, s.WriteRecord(&nib.Record{Level: nib.LevelWarn,
			Line: []byte(line + "\n")}))
	}
	must(t, s.Close())
	c := &catcher{refuse: func(*nib.Record) error {
		return errors.New("a reason that is longer than the first one")
	}}
	for range 2 { // the second run reads what the first one has put back
		n, err := Rejected(context.Background(), rejectedConfig(dir, c))
		if err != nil || n.Damaged > 0 || n.Delivered+n.Rejected != uint64(len(lines)) {
			t.Fatalf("got %+v and %v", n, err)
		}
		c.refuse = nil
	}
	for i, r := range c.records {
		if r.Seq != uint64(i+1) || string(r.Line) != lines[i]+"\n" ||
			r.Spool != c.records[0].Spool {
			t.Errorf("record %d: got %d and %q, want %q", i+1, r.Seq, r.Line, lines[i])
		}
	}
	if len(c.records) != len(lines) {
		t.Errorf("got %d records, want %d", len(c.records), len(lines))
	}
}

// A service rejects everything while runs deliver its file, and nothing is
// accepted: the file does not become longer than RejectedSize.
func TestRejectedStayWithinTheirSize(t *testing.T) {
	const size = 100_000
	dir := filepath.Join(t.TempDir(), "a")
	s := openSpool(t, dir, refusing(func(batch []nib.Record) (delivery.Result, error) {
		return delivery.Result{Accepted: 1, Rejected: []delivery.Rejection{{Reason: errAway}}}, nil
	}), spool.Config{Name: "es", OnFull: wait, RejectedSize: size})
	log := nib.NewSink(s)
	service := func() {
		for n := range 1000 {
			log.Warn().Int("n", n).Msg("m")
		}
		must(t, s.Flush(t.Context()))
	}
	service()
	file := filepath.Join(dir, "es.rejected")
	for run := range 5 {
		c := &catcher{refuse: func(*nib.Record) error {
			return fmt.Errorf("rejected again in run %d, %s", run,
				strings.Repeat("for a long reason ", 20))
		}}
		config := rejectedConfig(dir, c)
		config.Targets[0].Open = func([]byte) (delivery.Destination, error) {
			service()
			return c, nil
		}
		n, err := Rejected(context.Background(), config)
		if err != nil || n.Rejected == 0 {
			t.Fatalf("run %d: got %+v and %v", run, n, err)
		}
		info, err := os.Stat(file)
		must(t, err)
		if info.Size() > size {
			t.Errorf("run %d: the file has %d bytes, RejectedSize is %d", run, info.Size(), size)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
