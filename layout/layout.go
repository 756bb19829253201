// SPDX-License-Identifier: Apache-2.0

// Package layout has layouts that give nib's lines the format of other loggers
// or of log services. Each function returns a [nib.Layout] for
// [nib.WithLayout], which may be changed before use:
//
//	func main() {
//		l := layout.ECS()
//		l.TimeZone = time.Local
//		l.Static = func(e *nib.Event) {
//			e.Str("service.name", "shop")
//		}
//		log := nib.New(os.Stdout, nib.WithLayout(l), nib.WithCaller())
//		log.Info().Msg("ready")
//		// {"@timestamp":"…","log.level":"info",…,"service.name":"shop","message":"ready"}
//	}
//
// A layout determines the names and formats of the fields that nib itself
// writes. Fields have the keys that the caller gives them, except that every
// key which the layout writes is reserved: a field with such a key is renamed
// to "field." and the key (see [nib.Layout]).
//
// The functions may be called by any number of goroutines. Their layouts cost
// no more per line than the default one, except where noted.
package layout

import (
	"strconv"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
)

// fixedNanos is RFC 3339 with all nine digits. [time.RFC3339Nano] leaves out
// trailing zeros: the length varies, and no line can reuse the front of the
// previous one.
const fixedNanos = "2006-01-02T15:04:05.000000000Z07:00"

// errorAndType adds the text of an error, and its Go type under another key.
func errorAndType(typeKey string) func(*nib.Event, string, error) {
	return func(e *nib.Event, key string, err error) { e.AnErr(key, err).Type(typeKey, err) }
}

// A step is a severity on the scale of syslog, which several services use, in
// rising order.
type step int

const (
	debug step = iota
	info
	notice // notice, from LevelInfo+2 on
	warning
	failure
	critical // LevelPanic: the program may continue
	alert    // LevelFatal: it does not
	steps
)

// stepOf returns the step of any level.
func stepOf(l nib.Level) step { return alert + 1 - step(level.Severity(int(l))) }

// fileAndLine returns the usual way to write a place in a source file.
func fileAndLine(file string, line int) string {
	return file + ":" + strconv.Itoa(line)
}
