// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/linevalue"
)

// maxLayers is the number of envelopes around a line that are removed.
const maxLayers = 4

// outer is what the envelopes of a line say about it.
type outer struct {
	time     time.Time
	level    nib.Level
	hasTime  bool
	hasLevel bool
	host     []byte
	name     []byte // the prefix of a program that shows the lines of several others
	holes    int    // the number of NUL bytes before the line
	// buffers are for the lines that are escaped in their envelopes, and for a
	// message that is an array of bytes.
	buffers [maxLayers + 1][]byte
}

// IsWrapped reports whether the line is carried by another line, which Bytes
// returns: of the journal, Docker, Kubernetes or syslog.
func (l *Line) IsWrapped() bool { return l.layers > 0 }

// Prefix returns the name before the line, as added by programs that show the
// lines of several others.
func (l *Line) Prefix() []byte { return l.outer.name }

// Host returns the host in the envelope of the line, or nil.
func (l *Line) Host() []byte { return l.outer.host }

// unwrap removes the envelopes of the line, the outermost first. Of what
// several of them say, the innermost holds.
func (l *Line) unwrap() {
	if len(l.body) > 0 && (l.body[0] == 0 || l.body[0] == 0xef) {
		text := bytes.TrimLeft(l.text, "\x00")
		l.outer.holes = len(l.text) - len(text)
		l.text = bytes.TrimPrefix(text, []byte("\ufeff"))
		l.body = l.text
	}
	for l.layers < maxLayers {
		inner, ok := l.envelope(l.body)
		if !ok {
			break
		}
		l.body = bytes.TrimRight(inner, "\r\n")
		l.layers++
	}
	switch t := bytes.TrimLeft(l.body, " \t"); {
	case len(t) > 0 && t[0] == '{':
		l.body, l.format = t, FormatJSON
	case isLogfmt(l.body):
		l.format = FormatLogfmt
	default:
		l.format = FormatText
	}
}

// envelope returns the line that another one carries.
func (l *Line) envelope(text []byte) (inner []byte, ok bool) {
	if len(text) < 4 {
		return nil, false
	}
	switch c := text[0]; {
	case c == '{':
		return l.jsonEnvelope(text)
	case c == '<':
		return l.syslog(text)
	case c-'0' <= 9, isWeekday(text):
		if inner, ok = l.timed(text); ok {
			return inner, true
		}
	case month(text[:3]) > 0:
		if n, t, ok := l.clock.syslogTime(text); ok {
			return l.tagged(text[n:], t, false)
		}
	}
	return l.prefixed(text)
}

// mayWrap reports whether a line that begins with a brace may be an envelope.
func mayWrap(text []byte) bool {
	if len(text) < 12 {
		return false
	}
	switch c := text[2]; {
	case c == 'l':
		return text[3] == 'o' && text[5] == '"'
	case c == 's':
		return text[3] == 't' && text[4] == 'r'
	case c == '_':
		return true
	}
	return text[2]-'A' < 26 && (text[3]-'A' < 26 || text[3] == '_')
}

// jsonEnvelope returns the line in a record of Docker or the journal.
func (l *Line) jsonEnvelope(text []byte) (inner []byte, ok bool) {
	if !mayWrap(text) {
		return nil, false
	}
	if raw, ok := jsonread.Lookup(text, "log"); ok && raw[0] == '"' {
		at, _ := jsonread.Lookup(text, "time")
		stream, _ := jsonread.Lookup(text, "stream")
		if at == nil && stream == nil {
			return nil, false
		}
		inner, ok = l.unquote(raw)
		l.timeIs("time", at)
		return inner, ok
	}
	raw, ok := jsonread.Lookup(text, "MESSAGE")
	if !ok {
		return nil, false
	}
	if host, ok := jsonread.Lookup(text, "_HOSTNAME"); ok {
		l.outer.host = bytes.Trim(host, `"`)
	}
	if inner, ok = l.unquote(raw); !ok || !l.clock.isLine(inner, l.layers+1) {
		return nil, false // it is a line of its own, with fields
	}
	at, _ := jsonread.Lookup(text, "__REALTIME_TIMESTAMP")
	l.timeIs("__REALTIME_TIMESTAMP", at)
	if priority, ok := jsonread.Lookup(text, "PRIORITY"); ok {
		l.outer.level, l.outer.hasLevel = parseLevel("PRIORITY", priority)
	}
	return inner, true
}

func (l *Line) timeIs(key string, raw []byte) {
	if len(raw) > 0 {
		if t, ok := parseTime(key, raw, l.clock.location()); ok {
			l.outer.time, l.outer.hasTime = t, true
		}
	}
}

// unquote returns a text, or an array of bytes as text, in the buffer of the
// layer.
func (l *Line) unquote(raw []byte) (text []byte, ok bool) {
	if cap(l.outer.buffers[l.layers]) > maxScratch {
		l.outer.buffers[l.layers] = nil
	}
	buf := l.outer.buffers[l.layers][:0]
	switch raw[0] {
	case '"':
		buf, ok = jsonread.AppendUnquoted(buf, raw)
	case '[':
		for element := range jsonread.Elements(raw) {
			n, _, isNumber := linevalue.ParseNumber(element)
			if !isNumber || n < 0 || n > 255 {
				return nil, false
			}
			buf, ok = append(buf, byte(n)), true
		}
	}
	l.outer.buffers[l.layers] = buf
	return buf, ok
}

// bytesText returns an array of bytes as raw text.
func (l *Line) bytesText(raw []byte) []byte {
	text, ok := l.unquote(raw)
	if !ok {
		return raw
	}
	l.filled = jsonenc.AppendBytes(l.filled[:0], text)
	return l.filled
}

// syslog reads a priority, and RFC 5424 or RFC 3164 behind it, or the line of a
// service of systemd.
func (l *Line) syslog(text []byte) (inner []byte, ok bool) {
	end := bytes.IndexByte(text[:min(len(text), 5)], '>')
	if end < 2 {
		return nil, false
	}
	priority, decimals, ok := linevalue.ParseNumber(text[1:end])
	rest := text[end+1:]
	if !ok || uint64(priority) > 191 || decimals != 0 || len(rest) == 0 || rest[0] == ' ' {
		return nil, false
	}
	if bytes.HasPrefix(rest, []byte("1 ")) {
		inner, ok = l.syslog5424(rest[2:])
	} else if n, t, isTime := l.clock.leadingTime(rest); isTime {
		inner, ok = l.tagged(rest[n:], t, false)
	} else {
		inner = rest
	}
	if ok {
		l.outer.level, l.outer.hasLevel = syslogLevels[priority%8], true
	}
	return inner, ok
}

// syslog5424 reads TIME HOST APP PROCID MSGID DATA MESSAGE.
func (l *Line) syslog5424(text []byte) (inner []byte, ok bool) {
	at, rest, _ := bytes.Cut(text, []byte{' '})
	host, rest, _ := bytes.Cut(rest, []byte{' '})
	for range 3 {
		if _, rest, ok = bytes.Cut(rest, []byte{' '}); !ok {
			return nil, false
		}
	}
	switch {
	case bytes.HasPrefix(rest, []byte{'-'}):
		rest = rest[1:]
	case bytes.HasPrefix(rest, []byte{'['}):
		n := dataLen(rest)
		rest = rest[n:]
	default:
		return nil, false
	}
	if t, ok := linevalue.ParseText(at, time.UTC); ok {
		l.outer.time, l.outer.hasTime = t, true
	} else if string(at) != "-" {
		return nil, false
	}
	l.outer.host = host
	return bytes.TrimPrefix(bytes.TrimLeft(rest, " "), []byte("\ufeff")), true
}

// dataLen returns the length of structured data: [id key="value"].
func dataLen(text []byte) int {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ']' && !quoted && (i+1 == len(text) || text[i+1] != '['):
			return i + 1
		}
	}
	return len(text)
}

// tagged reads HOST TAG: MESSAGE behind a time. The tag needs a process id if
// strict is set, since a level and a name look like a host and a tag. The host
// may be missing before such a tag, as on the local socket and from Heroku.
func (l *Line) tagged(text []byte, t time.Time, strict bool) (inner []byte, ok bool) {
	text = bytes.TrimPrefix(text, []byte{' '})
	host, rest, ok := bytes.Cut(text, []byte{' '})
	if at := bytes.IndexByte(host, '['); at > 0 && isHost(host[:at]) &&
		bytes.HasSuffix(host, []byte("]:")) {
		l.outer.time, l.outer.hasTime = t, true
		return rest, ok
	}
	level, hasLevel := priorityLevel(rest[:wordEnd(rest)])
	if hasLevel {
		rest = bytes.TrimLeft(rest[wordEnd(rest):], " ")
	}
	tag := rest[:wordEnd(rest)]
	if !ok || !isHost(host) || len(tag) < 2 || tag[len(tag)-1] != ':' ||
		strict && !bytes.HasSuffix(tag, []byte("]:")) {
		return nil, false
	}
	l.outer.time, l.outer.hasTime, l.outer.host = t, true, host
	if hasLevel {
		l.outer.level, l.outer.hasLevel = level, true
	}
	return bytes.TrimPrefix(rest[len(tag):], []byte{' '}), true
}

// priorityLevel returns the level in a word such as daemon.err, which BusyBox
// writes behind the host.
func priorityLevel(word []byte) (nib.Level, bool) {
	facility, name, _ := bytes.Cut(word, []byte{'.'})
	switch string(bytes.TrimRight(facility, "01234567")) {
	case "kern", "user", "mail", "daemon", "auth", "authpriv", "syslog", "cron", "ftp", "local":
		if n := linevalue.FindLevel(name); n != nil {
			return n.Level, true
		}
	}
	return 0, false
}

// isHost reports whether a word may be the name or address of a host, and is no
// level.
func isHost(word []byte) bool {
	for _, c := range word {
		if !isNameByte(c) && c != ':' {
			return false
		}
	}
	_, _, isLevel := levelWord(word, true, true)
	return len(word) > 0 && !isLevel
}

// wordEnd returns the length of the text before a space.
func wordEnd(text []byte) int {
	if n := bytes.IndexByte(text, ' '); n >= 0 {
		return n
	}
	return len(text)
}

// timed reads a time before a line: of the container runtimes of Kubernetes
// (TIME stdout F LINE), kubectl --timestamps (TIME LINE), and the files of
// rsyslog (TIME HOST TAG[PID]: LINE).
func (l *Line) timed(text []byte) (inner []byte, ok bool) {
	n, t, ok := l.clock.leadingTime(text)
	if !ok || n < len("2006-01-02T15:04:05") || n+1 >= len(text) || text[n] != ' ' {
		return nil, false
	}
	rest := text[n+1:]
	if at := streamLen(rest); at > 0 {
		l.outer.time, l.outer.hasTime = t, true
		return rest[at:], true
	}
	const rsyslog = "2006-01-02T15:04:05.000000+00:00" // a time without Z
	isRsyslog := n == len(rsyslog) && (text[n-6] == '+' || text[n-6] == '-')
	if inner, ok = l.tagged(rest, t, !isRsyslog); ok {
		return inner, true
	}
	if text[10] != 'T' || !l.clock.isLine(rest, l.layers+1) {
		return nil, false
	}
	l.outer.time, l.outer.hasTime = t, true
	return rest, true
}

// streamLen returns the length of "stdout F " at the beginning of text, or 0.
func streamLen(text []byte) int {
	const n = len("stdout F ")
	if len(text) < n || string(text[:3]) != "std" || text[6] != ' ' || text[8] != ' ' ||
		text[7] != 'F' && text[7] != 'P' {
		return 0
	}
	return n
}

// isLine reports whether text is a line of a log on its own: an object,
// logfmt, or text with a time, or an envelope in layers of others.
func (c *clock) isLine(text []byte, layers int) bool {
	switch {
	case len(text) < 2 || layers > maxLayers:
		return false
	case text[0] == '{':
		return true
	case text[0] == '<' && text[1]-'0' <= 9, nameLen(text) > 0:
		return true
	case isLogfmt(text):
		for key := range logfmtFields(text) {
			if isKnownKey(key) {
				return true
			}
		}
		return false
	case c.podLen(text, layers) > 0:
		return true
	}
	if n := prefixLen(text); n > 0 && isRecord(text[n:]) {
		return true
	}
	if h := c.header(text); h.hasTime {
		return true
	}
	_, ok := c.accessTime(text)
	return ok
}

// prefixed reads the prefixes of docker compose, stern and kubectl --prefix.
func (l *Line) prefixed(text []byte) (inner []byte, ok bool) {
	n := nameLen(text)
	if n == 0 {
		n = l.clock.podLen(text, l.layers)
	}
	if n == 0 {
		n = prefixLen(text)
		if n == 0 || !isRecord(text[n:]) || !l.outer.takes(text[:n], text[n:], &l.clock) {
			return nil, false
		}
	}
	l.outer.name = bytes.TrimSpace(text[:n])
	return text[n:], true
}

// takes adds the time and the level in the text before an object. It reports
// false if the object is not a line, but the fields of a line of text: "ERROR
// it failed {…}".
func (o *outer) takes(text, object []byte, c *clock) bool {
	h := c.header(text)
	rest := bytes.TrimRight(skipBetween(text[h.end:]), " ")
	isMessage := h.hasLevel && len(rest) > 0 || h.hasTime && bytes.IndexByte(rest, ' ') > 0
	if isMessage && !hasTime(object) {
		return false
	}
	if h.hasTime {
		o.time, o.hasTime = h.time, true
	}
	if h.hasLevel {
		o.level, o.hasLevel = h.level, true
	}
	return true
}

// hasTime reports whether an object has the time of a line.
func hasTime(object []byte) bool {
	for key, value := range jsonread.Fields(object) {
		if name := timeKey(key); name != "" {
			if _, ok := parseTime(name, value, time.UTC); ok {
				return true
			}
		}
	}
	return false
}

// nameLen returns the length of "web-1  | " and of "[pod/web/app] ", or 0.
func nameLen(text []byte) int {
	if bytes.HasPrefix(text, []byte("[pod/")) {
		const end = "] "
		if i := bytes.Index(text[:min(len(text), maxPrefix)], []byte(end)); i > 0 {
			return i + len(end)
		}
		return 0
	}
	n := 0
	for n < len(text) && n < maxPrefix && isNameByte(text[n]) {
		n++
	}
	rest := bytes.TrimLeft(text[n:], " ")
	if n == 0 || len(rest) == len(text)-n || len(rest) < 2 || rest[0] != '|' || rest[1] != ' ' ||
		text[0]-'A' < 26 {
		return 0
	}
	return len(text) - len(rest) + 2
}

// podLen returns the length of "pod-name container " of stern before a line, or
// 0.
func (c *clock) podLen(text []byte, layers int) int {
	n := 0
	for word := range 2 {
		from := n
		for n < len(text) && n < maxPrefix && isNameByte(text[n]) {
			n++
		}
		if n == from || n == len(text) || text[n] != ' ' || text[from]-'a' > 25 ||
			word == 0 && bytes.IndexByte(text[:n], '-') < 0 {
			return 0
		}
		n++
	}
	if !c.isLine(text[n:], layers+1) || text[n] == '{' {
		return 0 // prefixLen is for objects
	}
	return n
}

func isNameByte(c byte) bool {
	return c-'a' < 26 || c-'A' < 26 || c-'0' <= 9 || c == '-' || c == '_' || c == '.' || c == '/'
}

// isRecord reports whether an object in a text is a line of a log: it has
// fields that only these have.
func isRecord(object []byte) bool {
	if mayWrap(object) {
		return true
	}
	for key, value := range jsonread.Fields(object) {
		if messageKey(key) != "" && !isWeak(messageKey(key)) {
			return true
		}
		if name := levelKey(key); name != "" {
			if _, ok := parseLevel(name, value); ok {
				return true
			}
		}
	}
	return false
}
