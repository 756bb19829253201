// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"bytes"

	"github.com/nib-log/nib"
	"github.com/sirupsen/logrus"
)

// Install makes l write through n:
//
//	niblogrus.Install(logrus.StandardLogger(), nib.New(os.Stdout))
//
// Levels, fields, call sites and flushing work as documented for [Hook]. n
// replaces l's formatter and output and is not one of its hooks: it sees the
// changes of all hooks, including those added later, and writes the entry even
// if one of them fails. logrus no longer formats anything, except for hooks
// that call Entry.Bytes or Entry.String: they get the text of the formatter
// that l had before.
//
// A call of SetFormatter or SetOutput on l removes n again; after SetFormatter
// alone, the formatted text becomes the message of n's lines. Call Install
// once, before other goroutines use l.
func Install(l *logrus.Logger, n *nib.Logger) {
	l.SetFormatter(&forwarder{Hook{Logger: n}, l.Formatter})
	l.SetOutput(&stray{n})
}

// A forwarder is the formatter that logrus calls for an entry after all hooks.
type forwarder struct {
	to   Hook
	text logrus.Formatter // the previous formatter, may be nil
}

// Format forwards the entry if the logger calls it, and then returns nothing to
// write. Only the logger provides a buffer.
func (f *forwarder) Format(entry *logrus.Entry) ([]byte, error) {
	if entry.Buffer != nil {
		return nil, f.to.Fire(entry)
	}
	if f.text == nil {
		return nil, nil
	}
	return f.text.Format(entry)
}

// A stray is the output of the logger. It writes the text of a formatter that
// was set after Install, so that no line is lost.
type stray struct{ to *nib.Logger }

func (s *stray) Write(p []byte) (int, error) {
	if len(p) > 0 {
		s.to.Log().Msg(string(bytes.TrimSuffix(p, []byte("\n"))))
	}
	return len(p), nil
}
