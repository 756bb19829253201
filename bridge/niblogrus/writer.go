// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"bytes"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/sirupsen/logrus"
)

// A writer makes one line at a time. It is the sink of its own logger, and so
// receives the line of its own event.
type writer struct {
	*plan
	log  *nib.Logger
	list list

	buffer    *bytes.Buffer // the buffer of the entry, or nil
	line      []byte
	frame     *runtime.Frame
	addCaller func(*nib.Event) // made once: a new closure for each line would be an allocation
	site      []byte           // file and line of the call site
	data      logrus.Fields    // the result of wanted, nil without Only and DataKey
	second    secondText
}

func newWriter(p *plan) *writer {
	w := &writer{plan: p, list: p.always.copy()}
	w.log = nib.NewSink(w, nib.WithLayout(quiet(p.layout)))
	w.addCaller = func(e *nib.Event) { w.caller(e, w.callerKey, *w.frame) }
	return w
}

// keepSize is the largest size of a line that is put into the entry's buffer,
// which logrus keeps for later lines whatever its size (golang/go#23199).
const keepSize = 1 << 16

// WriteRecord copies the line, which goes back to nib's pool.
func (w *writer) WriteRecord(r *nib.Record) error {
	if w.buffer == nil || len(r.Line) > keepSize {
		w.line = bytes.Clone(r.Line)
		return nil
	}
	w.buffer.Write(r.Line)
	w.line = w.buffer.Bytes()
	return nil
}

// write returns the line for entry. The event is given the time of the entry
// only to keep it from reading the clock.
func (w *writer) write(entry *logrus.Entry) (line []byte) {
	w.collect(entry)
	w.buffer = entry.Buffer
	e := w.log.Entry(nib.Entry{Time: entry.Time})
	for _, p := range w.list.order {
		it := &w.list.items[p.at]
		switch it.kind {
		case field:
			add(e, it.key, it.value)
		case text:
			e.Str(it.key, it.text)
		case stamp:
			w.addTime(e, it.key, entry.Time)
		case problem:
			w.addError(e, it)
		case site:
			e.Bytes(it.key, w.site)
		case caller:
			e.Func(w.addCaller)
		}
	}
	e.Send()
	line = w.line
	w.line, w.buffer, w.frame = nil, nil, nil
	if w.messageAt >= 0 {
		w.list.items[w.messageAt].text = ""
	}
	w.list.reset()
	clear(w.data)
	return line
}

// collect collects and sorts the items of the line.
func (w *writer) collect(entry *logrus.Entry) {
	l := &w.list
	if w.levelAt >= 0 {
		l.items[w.levelAt].text = w.name(entry.Level)
	}
	if w.messageAt >= 0 {
		l.items[w.messageAt].text = entry.Message
	}
	if w.dataKey != "" {
		if data := w.wanted(entry.Data); len(data) > 0 {
			l.field(w.position(w.dataKey), w.dataKey, data)
		}
	} else {
		for k, v := range entry.Data {
			if w.only != nil && !w.only[k] {
				continue
			}
			it := l.field(len(w.first), k, v)
			if w.watched>>keyBit(k)&1 != 0 {
				w.apply(l, it)
			}
		}
	}
	if entry.Caller != nil {
		w.collectCaller(entry.Caller)
	}
	if s := fault(entry); s != "" {
		w.collectText(w.faultKey, s)
	}
	l.sort()
	l.separate(w.position)
}

// wanted returns those fields of an entry that are written.
func (w *writer) wanted(data logrus.Fields) logrus.Fields {
	if w.only == nil {
		return data
	}
	if w.data == nil {
		w.data = make(logrus.Fields, len(w.only))
	}
	for k, v := range data {
		if w.only[k] {
			w.data[k] = v
		}
	}
	return w.data
}

func (w *writer) collectText(key, s string) {
	w.list.add(w.position(key), item{key: key, kind: text, text: s})
}

func (w *writer) collectCaller(f *runtime.Frame) {
	switch {
	case w.callerKey == nib.OmitKey:
	case w.caller != nil:
		w.frame = f
		w.list.add(w.position(w.callerKey), item{key: w.callerKey, kind: caller})
	case w.callerKey != "":
		w.collectSite(w.callerKey, shortFile(f.File), f.Line)
	case w.prettify != nil:
		function, file := w.pretty(f)
		if function != "" {
			w.collectText(w.funcKey, function)
		}
		if file != "" {
			w.collectText(w.fileKey, file)
		}
	default:
		if f.Function != "" {
			w.collectText(w.funcKey, f.Function)
		}
		w.collectSite(w.fileKey, f.File, f.Line)
	}
}

func (w *writer) collectSite(key, file string, line int) {
	w.site = strconv.AppendInt(append(append(w.site[:0], file...), ':'), int64(line), 10)
	w.list.add(w.position(key), item{key: key, kind: site})
}

// pretty runs the user's CallerPrettyfier.
func (w *writer) pretty(f *runtime.Frame) (function, file string) {
	defer func() {
		if r := recover(); r != nil {
			function, file = "!PANIC: "+panicText(r), ""
		}
	}()
	return w.prettify(f)
}

// panicText returns the text of a panic's value, or its type if the text needs
// a method of the value.
func panicText(r any) string {
	switch v := r.(type) {
	case string:
		return v
	case runtime.Error:
		return v.Error()
	}
	return reflect.TypeOf(r).String()
}

// addTime adds the time of the entry.
func (w *writer) addTime(e *nib.Event, key string, t time.Time) {
	if w.units != 0 {
		addUnix(e, key, t, w.units)
		return
	}
	if w.zone != nil {
		t = t.In(w.zone)
	}
	e.Bytes(key, w.second.format(t, w.timeFormat))
}

// addError adds the error of an entry in the format of the layout, which has
// one key only.
func (w *writer) addError(e *nib.Event, it *item) {
	err, _ := it.value.(error)
	if it.key == w.layout.ErrorKey && w.layout.Error != nil {
		e.Err(err)
	} else {
		e.AnErr(it.key, err)
	}
}

// shortFile returns the name of a file with its directory.
func shortFile(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		if j := strings.LastIndexByte(path[:i], '/'); j >= 0 {
			return path[j+1:]
		}
	}
	return path
}
