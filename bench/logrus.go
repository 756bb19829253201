// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"time"

	"github.com/sirupsen/logrus"
	logrusslog "github.com/sirupsen/logrus/hooks/slog"
)

// logrus runs its JSONFormatter without HTML escaping, and without its lock
// where the writer does not need one, as its documentation recommends.
var logrusPeer = Peer{
	Name:         "logrus",
	Module:       "github.com/sirupsen/logrus",
	File:         "logrus.go",
	DurationUnit: time.Nanosecond,
	Disabled:     logrusDisabled,
	Message:      logrusMessage,
	Fields:       logrusFields,
	Bound:        logrusBound,
	Caller:       logrusCaller,
	Error:        logrusError,
	Formatted:    logrusFormatted,
	Pointer:      logrusPointer,
	Struct:       logrusStruct,
	Composite:    logrusComposite,
	Unicode:      logrusUnicode,
	Escapes:      logrusEscapes,
	Attrs:        nil, // has no attributes, only maps
	SlogFront:    logrusSlogFront,
	Bare:         nil, // cannot leave out the level
	Buffered:     nil, // has no buffering writer
	Service:      logrusService,
}

func newLogrus(w io.Writer) *logrus.Logger {
	l := logrus.New()
	l.SetOutput(w)
	l.SetFormatter(&logrus.JSONFormatter{DisableHTMLEscape: true})
	l.SetNoLock() // io.Discard and *os.File serialise themselves
	return l
}

func logrusDisabled(w io.Writer) Run {
	l := newLogrus(w)
	return run(func(n int) {
		for range n {
			l.WithFields(logrus.Fields{"method": method, "status": status, "took": took}).Debug(message)
		}
	})
}

func logrusMessage(w io.Writer) Run {
	l := newLogrus(w)
	return run(func(n int) {
		for range n {
			l.Info(message)
		}
	})
}

func logrusTen() logrus.Fields {
	return logrus.Fields{"method": method, "path": path, "request": request, "status": status, "size": size,
		"trace": trace, "cached": cached, "load": load, "took": took, "started": started}
}

func logrusFields(w io.Writer) Run {
	l := newLogrus(w)
	return run(func(n int) {
		for range n {
			l.WithFields(logrusTen()).Info(message)
		}
	})
}

func logrusBound(w io.Writer) Run {
	l := newLogrus(w).WithFields(logrusTen())
	return run(func(n int) {
		for range n {
			l.Info(message)
		}
	})
}

func logrusCaller(w io.Writer) Run {
	l := newLogrus(w)
	l.SetReportCaller(true)
	return run(func(n int) {
		for range n {
			l.Info(message)
		}
	})
}

func logrusError(w io.Writer) Run {
	l := newLogrus(w)
	return run(func(n int) {
		for range n {
			l.WithError(errRefused).Error(message)
		}
	})
}

func logrusFormatted(w io.Writer) Run {
	l := newLogrus(w)
	return run(func(n int) {
		for range n {
			l.Infof(format, path, status)
		}
	})
}

func logrusPointer(w io.Writer) Run {
	l := newLogrus(w)
	return run(func(n int) {
		for range n {
			l.WithField("account", &customerAccount).Info(message)
		}
	})
}

func logrusStruct(w io.Writer) Run {
	l := newLogrus(w)
	return run(func(n int) {
		for range n {
			l.WithField("account", customerAccount).Info(message)
		}
	})
}

func logrusComposite(w io.Writer) Run {
	l := newLogrus(w)
	return run(func(n int) {
		for range n {
			l.WithFields(logrus.Fields{"shards": shards, "peer": map[string]any{
				"method": method, "request": request, "status": status, "cached": cached, "load": load,
			}}).Info(message)
		}
	})
}

func logrusUnicode(w io.Writer) Run {
	l := newLogrus(w)
	return run(func(n int) {
		for range n {
			l.WithFields(logrus.Fields{"city": city, "customer": customer, "mood": mood}).Info(messageUnicode)
		}
	})
}

func logrusEscapes(w io.Writer) Run {
	l := newLogrus(w)
	return run(func(n int) {
		for range n {
			l.WithFields(logrus.Fields{"file": file, "query": query, "terminal": terminal}).Info(messageEscapes)
		}
	})
}

func logrusSlogFront(w io.Writer) Run {
	return slogFront(logrusslog.NewHandler(newLogrus(w), nil))
}

func logrusService(w io.Writer) func(id uint64) {
	l := newLogrus(w)
	return func(id uint64) {
		l.WithFields(logrus.Fields{"id": id, "method": method, "path": path}).Info("request received")
		l.WithFields(logrus.Fields{"id": id, "key": request, "hit": cached}).Info("session looked up")
		l.WithFields(logrus.Fields{"id": id, "rows": status, "took": took}).Info("query done")
		l.WithFields(logrus.Fields{"id": id, "load": load, "started": started}).Info("page rendered")
		l.WithFields(logrus.Fields{"id": id, "status": status, "size": size, "took": took}).Info(message)
	}
}
