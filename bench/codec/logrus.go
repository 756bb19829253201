// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"io"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/nib-log/nib/layout"
)

// Values of the entries. One entry has the field that the topic's format also
// has, the other has eight fields.
var (
	entryMessage = "request handled"
	taskID       = "7f3a-19"
	method       = "GET"
	path         = "/v1/orders/8731"
	status       = 200
	size         = int64(48231)
	cached       = true
	load         = 0.75
	requestID    = "3f2a9c1e-7d55-4c0e-9b1f"
)

const (
	wantEntry = `{"time":"now","level":"info","msg":"request handled","task_id":"7f3a-19"}`
	wantTopic = `{"service":"billing","msg":"request handled","task_id":"7f3a-19","log_date":"now"}`
	wantEight = `{"time":"now","level":"info","msg":"request handled","task_id":"7f3a-19","method":"GET","path":"/v1/orders/8731",
		"status":200,"size":48231,"cached":true,"load":0.75,"request":"3f2a9c1e-7d55-4c0e-9b1f"}`
)

// one and eight make the fields of an entry, as each call does.
func one() logrus.Fields { return logrus.Fields{taskKey: taskID} }

func eight() logrus.Fields {
	return logrus.Fields{taskKey: taskID, "method": method, "path": path, "status": status, "size": size,
		"cached": cached, "load": load, "request": requestID}
}

// formats returns the contests of formatters for logrus.
func formats() []Scenario {
	all := []Scenario{
		{Name: "Format", Title: "Format, 1 field", Versus: Logrus},
		{Name: "FormatEight", Title: "Format, 8 fields", Versus: Logrus},
		{Name: "Call", Title: "WithFields and Info, 1 field", Versus: Logrus},
		{Name: "CallEight", Title: "WithFields and Info, 8 fields", Versus: Logrus},
	}
	for _, f := range formatters {
		want := wantEntry
		if f.fixed {
			want = wantTopic
		}
		all[0].Contestants = append(all[0].Contestants, Contestant{Name: f.name, New: format(f.new, one), Want: want})
		all[2].Contestants = append(all[2].Contestants, Contestant{Name: f.name, New: call(with(f.new), one), Want: want})
		if !f.fixed {
			all[1].Contestants = append(all[1].Contestants, Contestant{Name: f.name, New: format(f.new, eight), Want: wantEight})
			all[3].Contestants = append(all[3].Contestants, Contestant{Name: f.name, New: call(with(f.new), eight), Want: wantEight})
		}
	}
	none := with(func() logrus.Formatter { return nothing{} })
	all[2].Contestants = append(all[2].Contestants,
		Contestant{Name: Installed, New: call(installed, one), Want: wantEntry},
		Contestant{Name: Nothing, New: call(none, one)})
	all[3].Contestants = append(all[3].Contestants,
		Contestant{Name: Installed, New: call(installed, eight), Want: wantEight},
		Contestant{Name: Nothing, New: call(none, eight)})
	return all
}

// format calls a formatter as a logger does, with a buffer that is reused.
func format(formatter func() logrus.Formatter, fields func() logrus.Fields) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		f := formatter()
		e := logrus.NewEntry(logrus.New())
		e.Data, e.Message, e.Level, e.Time, e.Buffer = fields(), entryMessage, logrus.InfoLevel, time.Now(), new(bytes.Buffer)
		return func(n int) {
			var text []byte
			for range n {
				e.Buffer.Reset()
				var err error
				if text, err = f.Format(e); err != nil {
					panic(err)
				}
			}
			show(w, text)
		}
	}
}

// call makes whole calls.
func call(logger func(w io.Writer) *logrus.Logger, fields func() logrus.Fields) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		l := logger(w)
		return func(n int) {
			for range n {
				l.WithFields(fields()).Info(entryMessage)
			}
		}
	}
}

// with returns a logger with a formatter.
func with(formatter func() logrus.Formatter) func(w io.Writer) *logrus.Logger {
	return func(w io.Writer) *logrus.Logger {
		l := logrus.New()
		l.SetOutput(w)
		l.SetFormatter(formatter())
		l.SetNoLock() // io.Discard needs none
		return l
	}
}

// installed returns a logger that writes through nib, with logrus's keys.
func installed(w io.Writer) *logrus.Logger {
	l := logrus.New()
	niblogrus.Install(l, nib.New(w, nib.WithLayout(layout.Logrus())))
	l.SetNoLock()
	return l
}
