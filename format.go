// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"strings"
	"time"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/plan"
)

// A format is a Layout with its defaults filled in and everything that never
// changes encoded. It is immutable except for its caches and shared by all
// loggers with the layout.
type format struct {
	Layout
	time     jsonenc.TimeFormat
	fraction int // digits of the second's fraction in every time; negative if their number varies

	timeKey, levelKey, loggerKey string // `,"time":`; "" when left out
	messageField
	levels [len(level.Names)]string
	static string

	reserved     keySet  // keys of nib's own fields, the call site and Static
	errorKeys    keySet  // keys that Err writes, reserved in lines with an error
	reservedBits uint64  // the bits of both
	errorField   string  // `,"error":`
	site         *format // for Layout.Caller: its own keys are not reserved
	siteKeys     keySet  // keys of the call site

	otherLevels callsite.Table[cachedText] // `,"level":"info+2"` by level
	callers     callsite.Table[cachedText]
	frames      callsite.Table[cachedText] // a line of a stack trace, by pc
	clashing    callsite.Table[clash]      // keyed by plan
	plans       *plan.Set                  // of structs, maps and slices, with the layout's times
}

// A messageField is the beginning of the message in every line.
type messageField struct {
	messageKey  string       // `,"message":`; "" when left out
	messageText jsonenc.Text // messageKey and the opening quote of the value
}

// reservedPrefix precedes the key of a field if nib reserves the key.
const reservedPrefix = "field."

// keyBit is a hash of a key's ends and length, 0 to 63. Few of the common keys
// in logs share a bit with the keys reserved by default.
func keyBit(key string) uint {
	n := uint(len(key))
	if n == 0 {
		return 0
	}
	return (uint(key[0]) + uint(key[n-1])<<2 + n<<4) & 63
}

// A keySet is a small set of keys, each prefixed with reservedPrefix.
type keySet struct {
	keys []string
	bits uint64 // bit keyBit(k) for each key k
}

func (s *keySet) add(key string) {
	if !s.has(key) {
		s.keys = append(s.keys, reservedPrefix+key)
		s.bits |= 1 << keyBit(key)
	}
}

func (s *keySet) has(key string) bool { return s.prefixed(key) != "" }

// prefixed returns reservedPrefix and key if key is in the set, otherwise "".
func (s *keySet) prefixed(key string) string {
	if s.bits>>keyBit(key)&1 == 0 {
		return ""
	}
	for _, k := range s.keys {
		if k[len(reservedPrefix):] == key {
			return k
		}
	}
	return ""
}

// addFields adds the keys of fields that a function of the layout has written,
// except keys with reservedPrefix, and panicKey, which stands for a result.
func (s *keySet) addFields(fields string) {
	for k := range jsonread.Fields([]byte(fields)) {
		name, _ := jsonread.AppendUnquoted(nil, append(append([]byte{'"'}, k...), '"'))
		if key := string(name); !strings.HasPrefix(key, reservedPrefix) && key != panicKey {
			s.add(key)
		}
	}
}

// rename puts reservedPrefix in front of those keys of encoded fields that are
// in set. end closes the fields' open groups.
func (set *keySet) rename(fields, end string) string {
	if fields == "" {
		return ""
	}
	var out, name []byte
	for k, v := range jsonread.Fields([]byte(fields + end)) {
		name, _ = jsonread.AppendUnquoted(name[:0], append(append([]byte{'"'}, k...), '"'))
		out = append(out, ',', '"')
		if set.has(string(name)) {
			out = append(out, reservedPrefix...)
		}
		out = append(append(append(out, k...), '"', ':'), v...)
	}
	return string(out[:len(out)-len(end)])
}

// zone returns the zone in which to show a time of zone own.
func (f *format) zone(own *time.Location) *time.Location {
	if f.TimeZone == nil {
		return own
	}
	return f.TimeZone
}

func (f *format) appendDuration(dst []byte, d time.Duration) []byte {
	switch f.Duration {
	case DurationSeconds:
		return jsonenc.AppendSeconds(dst, d)
	case DurationNanos:
		return jsonenc.AppendInt(dst, int64(d))
	case DurationString:
		return jsonenc.AppendDurationString(dst, d)
	default:
		return jsonenc.AppendMillis(dst, d)
	}
}

func (f *format) encodeName(name string) string {
	if name == "" || f.loggerKey == "" {
		return ""
	}
	return string(jsonenc.AppendString([]byte(f.loggerKey), name))
}

// level returns the encoded level field. Unnamed levels are encoded once and
// cached, except those far from the named ones, which are unlimited.
func (f *format) level(l Level, c *core) string {
	if i, ok := level.Index(int(l)); ok {
		return f.levels[i]
	}
	const far = 1 << 10
	if l < -far || l > far {
		return f.encodeLevel(l, c)
	}
	id := uintptr(l + 2*far) // never 0, which marks a free place
	s := f.otherLevels.Get(id)
	if s == nil {
		s = f.otherLevels.Put(id, cachedText{text: f.encodeLevel(l, c)})
	}
	return s.text
}

func (f *format) encodeLevel(l Level, c *core) string {
	if f.levelKey == "" {
		return ""
	}
	return string(jsonenc.AppendString([]byte(f.levelKey), f.levelName(l, c)))
}

// levelName names a level, by Level.String if the layout's function panics.
func (f *format) levelName(l Level, c *core) (name string) {
	if !c.callReported("Layout.LevelName", c.state.lose, func() { name = f.LevelName(l) }) {
		name = l.String()
	}
	return name
}
