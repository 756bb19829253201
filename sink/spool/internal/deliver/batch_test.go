// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A spoolOfNothing is a Spool without segments: tests fill the batch of a
// delivery themselves.
type spoolOfNothing struct {
	Spool
	report, fault func(error)
}

func (s *spoolOfNothing) Report(_ string, err error) { s.report(err) }
func (s *spoolOfNothing) Fault(_ string, err error)  { s.fault(err) }

// emptyChain returns a chain without records, which continues with number 1.
func emptyChain() *Chain { return &Chain{Links: []*Link{{Old: segment.Old{End: 1}}}} }

// An answers is a destination with all abilities, which answers as the test
// wants. A nil function settles everything and has no mark.
type answers struct {
	deliver func(batch []nib.Record) (delivery.Result, error)
	resume  func(n int) (int, error)
	mark    func() []byte
	sync    func() bool
}

func (a *answers) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	if a.deliver == nil {
		return delivery.Result{Accepted: len(batch)}, nil
	}
	return a.deliver(batch)
}

func (a *answers) Resume(_ context.Context, _ []byte, batch []nib.Record) (int, error) {
	if a.resume == nil {
		return 0, nil
	}
	return a.resume(len(batch))
}

func (a *answers) Mark() []byte {
	if a.mark == nil {
		return nil
	}
	return a.mark()
}

func (a *answers) SyncMark() bool { return a.sync != nil && a.sync() }

var errDown = errors.New("down")

const (
	dirOfTest  = "/spool"
	nameOfTest = "dest"
)

// A bed is a delivery whose cursor is in memory, and the errors it reports.
type bed struct {
	*Delivery
	faults, reports []error
}

// newBed returns a delivery of records 1 to lines. The ones before opened are
// of an earlier process.
func newBed(t *testing.T, fsys vfs.FS, dest delivery.Destination, lines int, opened uint64) *bed {
	t.Helper()
	must(t, fsys.MkdirAll(dirOfTest, 0o700))
	b := &bed{}
	s := &spoolOfNothing{
		report: func(err error) { b.reports = append(b.reports, err) },
		fault:  func(err error) { b.faults = append(b.faults, err) },
	}
	b.Delivery = New(emptyChain(), s, Options{Context: t.Context(), Name: nameOfTest, RejectedSize: 1 << 20, Tick: time.Nanosecond}, dest)
	_, err := b.OpenCursor(store.LookInto(fsys, dirOfTest))
	must(t, err)
	b.Begin(opened, nil)
	for n := range lines {
		b.batch = append(b.batch, nib.Record{Seq: uint64(n + 1), Line: fmt.Appendf(nil, `{"n":%d}`+"\n", n+1)})
	}
	return b
}

// fileOf returns the content of a file of the destination.
func fileOf(t *testing.T, m *vfstest.Mem, ext string) []byte {
	t.Helper()
	f, err := m.Open(filepath.Join(dirOfTest, nameOfTest+ext), 0, 0)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	text, err := io.ReadAll(io.NewSectionReader(f, 0, info.Size))
	must(t, err, f.Close())
	return text
}

// markOf returns the stored mark.
func markOf(t *testing.T, m *vfstest.Mem) string {
	t.Helper()
	slot, _, _, err := store.ReadSlots(bytes.NewReader(fileOf(t, m, store.CursorExt)))
	must(t, err)
	if slot == nil {
		t.Fatal("the cursor has no slot")
	}
	return string(store.MarkIn(slot))
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
