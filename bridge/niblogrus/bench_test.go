// SPDX-License-Identifier: Apache-2.0

package niblogrus_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/sirupsen/logrus"
)

// BenchmarkFormat measures the formatter alone, with an entry of eight fields.
func BenchmarkFormat(b *testing.B) {
	for _, c := range []struct {
		name string
		f    logrus.Formatter
	}{
		{"logrus", &logrus.JSONFormatter{}},
		{"nib", &niblogrus.Formatter{}},
		{"nib, fixed format", topic()},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := entryOf(benchFields())
			e.Buffer = new(bytes.Buffer)
			b.ReportAllocs()
			for range b.N {
				e.Buffer.Reset()
				if _, err := c.f.Format(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCall measures the whole call: logrus.WithFields(…).Info(…).
func BenchmarkCall(b *testing.B) {
	for _, c := range []struct {
		name    string
		prepare func(*logrus.Logger)
	}{
		{"logrus", func(l *logrus.Logger) { l.SetFormatter(&logrus.JSONFormatter{}) }},
		{"nib", func(l *logrus.Logger) { l.SetFormatter(&niblogrus.Formatter{}) }},
		{"nib, installed", func(l *logrus.Logger) { niblogrus.Install(l, nib.New(io.Discard)) }},
		{"logrus, formatting nothing", func(l *logrus.Logger) { l.SetFormatter(nothing{}) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			l := logrus.New()
			l.SetOutput(io.Discard)
			c.prepare(l)
			fields := benchFields()
			b.ReportAllocs()
			for range b.N {
				l.WithFields(fields).Info("request handled")
			}
		})
	}
}

func benchFields() logrus.Fields {
	return logrus.Fields{
		"task_id": "7f3a-19", "method": "GET", "path": "/v1/orders/8731", "status": 200,
		"size": int64(48231), "cached": true, "load": 0.75, "request": "3f2a9c1e-7d55-4c0e-9b1f",
	}
}
