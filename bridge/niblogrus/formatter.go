// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"errors"
	"runtime"
	"sync"

	"github.com/nib-log/nib"
	"github.com/sirupsen/logrus"
)

var _ logrus.Formatter = (*Formatter)(nil)

// A Formatter replaces [logrus.JSONFormatter] and writes the same keys and
// values, one JSON object and a newline for each entry:
//
//	log.SetFormatter(&logrus.JSONFormatter{})
//	log.SetFormatter(&niblogrus.Formatter{})
//
// The zero Formatter is ready. Its fields are read when the first entry is
// formatted and must not be changed afterwards; it must not be copied either.
// It is safe for concurrent use.
type Formatter struct {
	// Layout has the names and formats of everything but the fields of the
	// entry. The zero value of each field means the default of logrus: keys
	// time, level and msg, errors under logrus.ErrorKey, the call site as func
	// and file, times in the zone they come in and as [time.RFC3339], logrus's
	// names of levels, and durations as whole nanoseconds (so that
	// [nib.DurationMillis], the zero value, is not available). nib.OmitKey as a
	// key leaves that field out.
	//
	// TimeFormat, TimeZone and KeepZone apply to the entry's own time. Times
	// among the fields are written as encoding/json does.
	//
	// With a CallerKey or Caller the call site is one field, not two. Fields of
	// Static come before all others. LoggerKey, StackKey and MessageFirst have
	// no meaning here.
	Layout nib.Layout

	// Service is written as "service" when it is not empty.
	Service string

	// First lists keys that come first in the line, in this order, if the line has
	// them. All others follow, sorted, as in logrus.
	First []string

	// Always lists keys that each line has: their value is the empty string if the
	// entry has no such field.
	Always []string

	// Rename maps keys of fields of the entry to other keys; nib.OmitKey leaves
	// the field out.
	Rename map[string]string

	// Only lists the keys of entry.Data that are written, also within DataKey; all
	// others, including errors, are left out. If it is nil, all are written.
	// Together with First and Always it makes a format in which every line has the
	// same keys: those, the formatter's own (time, level, message, Service, the
	// call site if logrus reports it), and the text of an error of logrus.
	Only []string

	// FieldMap, DataKey and CallerPrettyfier are as in logrus.JSONFormatter. A
	// key in Layout has precedence. With a DataKey, First, Always and Rename
	// apply to the line, not to the fields within.
	FieldMap         logrus.FieldMap
	DataKey          string
	CallerPrettyfier func(*runtime.Frame) (function, file string)

	once sync.Once
	plan *plan
}

// Format returns the line for any entry: it neither panics nor returns an
// error, unless entry is nil. Methods of values (Error, MarshalJSON, …) run on
// the calling goroutine, without any lock. Nothing of entry.Data is kept. The
// line is in entry.Buffer, as with logrus's own formatters, unless there is
// none or the line is longer than 64 KiB, which would stay in that pooled
// buffer. 0 allocs otherwise, when the fields are plain values.
func (f *Formatter) Format(entry *logrus.Entry) ([]byte, error) {
	if entry == nil {
		return nil, errNoEntry
	}
	f.once.Do(func() { f.plan = newPlan(f) })
	w := f.plan.writers.Get().(*writer)
	line := w.write(entry)
	f.plan.writers.Put(w) // not deferred: the writer of a goroutine that ended must not be reused
	return line, nil
}

var errNoEntry = errors.New("nib/logrus: there is no entry to format")
