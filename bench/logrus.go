// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"log/slog"
	"time"

	"github.com/sirupsen/logrus"
	logrusslog "github.com/sirupsen/logrus/hooks/slog"
)

// logrus runs its JSONFormatter without HTML escaping, and without its lock
// where the writer does not need one, as its documentation recommends.
//
// It has no row Attrs, because it has maps only, no Bare, because it cannot
// leave out the level, and no Buffered, because it has no buffering writer.
var logrusPeer = Peer{
	Name: "logrus", Module: "github.com/sirupsen/logrus", DurationUnit: time.Nanosecond,
	Rows: map[string]Setup{
		"Disabled": Row(newLogrus, func(l *logrus.Logger, n int) {
			for range n {
				l.WithFields(logrus.Fields{"method": method, "status": status, "took": took}).
					Debug(message)
			}
		}),
		"Message": Row(newLogrus, logrusMessage),
		"TenFields": Row(newLogrus, func(l *logrus.Logger, n int) {
			for range n {
				l.WithFields(logrusTen()).Info(message)
			}
		}),
		"Bound": Row(
			func(w io.Writer) *logrus.Entry { return newLogrus(w).WithFields(logrusTen()) },
			func(l *logrus.Entry, n int) {
				for range n {
					l.Info(message)
				}
			}),
		"Caller": Row(func(w io.Writer) *logrus.Logger {
			l := newLogrus(w)
			l.SetReportCaller(true)
			return l
		}, logrusMessage),
		"Error": Row(newLogrus, func(l *logrus.Logger, n int) {
			for range n {
				l.WithError(errRefused).Error(message)
			}
		}),
		"Formatted": Row(newLogrus, func(l *logrus.Logger, n int) {
			for range n {
				l.Infof(format, path, status)
			}
		}),
		"StructValue": Row(newLogrus, func(l *logrus.Logger, n int) {
			for range n {
				l.WithField("account", customerAccount).Info(message)
			}
		}),
		"ArrayDict": Row(newLogrus, func(l *logrus.Logger, n int) {
			for range n {
				l.WithFields(logrus.Fields{"shards": shards, "peer": map[string]any{
					"method": method, "request": request, "status": status, "cached": cached, "load": load,
				}}).Info(message)
			}
		}),
		"Unicode": Row(newLogrus, func(l *logrus.Logger, n int) {
			for range n {
				l.WithFields(logrus.Fields{"city": city, "customer": customer, "mood": mood}).
					Info(messageUnicode)
			}
		}),
		"Escapes": Row(newLogrus, func(l *logrus.Logger, n int) {
			for range n {
				l.WithFields(logrus.Fields{"conf": conf, "query": query, "terminal": terminal}).
					Info(messageEscapes)
			}
		}),
		"SlogFront": Row(func(w io.Writer) slog.Handler {
			return logrusslog.NewHandler(newLogrus(w), nil)
		}, slogFront),
	},
	Service: func(w io.Writer) func(id uint64) {
		l := newLogrus(w)
		return func(id uint64) {
			l.WithFields(logrus.Fields{"id": id, "method": method, "path": path}).
				Info("request received")
			l.WithFields(logrus.Fields{"id": id, "key": request, "hit": cached}).
				Info("session looked up")
			l.WithFields(logrus.Fields{"id": id, "rows": status, "took": took}).Info("query done")
			l.WithFields(logrus.Fields{"id": id, "load": load, "started": started}).
				Info("page rendered")
			l.WithFields(logrus.Fields{"id": id, "status": status, "size": size, "took": took}).
				Info(message)
		}
	},
}

func newLogrus(w io.Writer) *logrus.Logger {
	l := logrus.New()
	l.SetOutput(w)
	l.SetFormatter(&logrus.JSONFormatter{DisableHTMLEscape: true})
	l.SetNoLock() // io.Discard and *os.File serialise themselves
	return l
}

func logrusMessage(l *logrus.Logger, n int) {
	for range n {
		l.Info(message)
	}
}

func logrusTen() logrus.Fields {
	return logrus.Fields{"method": method, "path": path, "request": request, "status": status,
		"size": size, "trace": trace, "cached": cached, "load": load, "took": took, "started": started}
}
