// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"math"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/linevalue"
)

// A view is a prepared Config. It never changes.
type view struct {
	color        bool
	timeFormat   string // "" omits the time
	timeZone     *time.Location
	timeWidth    int // columns left blank in lines without a time
	levelWidth   int
	headWidth    int // columns of time and level, including the spaces after them
	messageWidth int // if 0, it depends on the width of the terminal

	keys          [roles]string
	durations     []string
	inRow, inRows *jsonread.Pairs // how fields are written into one row, and into several
	unit          time.Duration   // unit of durations written as numbers
	levels        []linevalue.LevelName
	messageFirst  bool
	lineFormat    string // format of the time in a line
	lineZone      *time.Location
}

func newView(c Config, color bool) *view {
	c = c.withDefaults()
	v := &view{
		color:        color,
		timeFormat:   c.TimeFormat,
		timeZone:     c.TimeZone,
		levelWidth:   tagWidth,
		messageWidth: c.MessageWidth,
		keys:         roleKeys(c.Layout),
		unit:         unitOfDurations(c.Layout.Duration),
		levels:       compileLevels(c.Layout.LevelName),
		messageFirst: c.Layout.MessageFirst,
		lineFormat:   c.Layout.TimeFormat,
		lineZone:     c.Layout.TimeZone,
	}
	for _, key := range c.Durations {
		v.durations = append(v.durations, escapedKey(key))
	}
	before, equals := "", "="
	if color {
		before, equals = sgrKey, "="+sgrReset
	}
	special := append(append([]string{panicKey}, v.keys[:]...), v.durations...)
	v.inRow = jsonread.NewPairs(before, equals, ' ', false, special...)
	v.inRows = jsonread.NewPairs(before, equals, rowBreak, false, special...)
	switch nib.OmitKey {
	case c.TimeFormat, c.Layout.TimeKey:
		v.timeFormat = ""
	default:
		longest := time.Date(2006, 12, 31, 23, 59, 59, 999_999_999, c.TimeZone)
		v.timeWidth = width(appendPlain(nil, []byte(longest.Format(c.TimeFormat))))
	}
	if v.timeFormat != "" {
		v.headWidth = v.timeWidth + 1
	}
	if c.Layout.LevelKey == nib.OmitKey {
		v.levelWidth = 0
	} else {
		v.headWidth += v.levelWidth + 1
	}
	return v
}

// A painter shows one line at a time.
type painter struct {
	*view
	dst   []byte
	row   int // start of the line in dst
	gap   int // spaces to write before the next text
	level nib.Level

	width    int // columns of the terminal; 0 or less: there is none
	askWidth func(fd uintptr)

	src       []byte               // the line
	at        [roles]jsonread.Span // the members with a role
	fields    []byte               // the other members as written
	separator byte                 // follows each of fields
	messageAt int                  // offset in fields at which the message was
	blocks    []jsonread.Span      // errors of several lines
	isCut     bool                 // the message has more lines, for a block

	decoded, tag, clock []byte // scratch space

	buf    []byte // buffer for the output of the sink
	record nib.Record
}

// line appends a line and, if it has any, its blocks. known is its record, or
// nil.
func (p *painter) line(dst, line []byte, known *nib.Record) []byte {
	p.dst, p.row, p.gap = dst, len(dst), 0
	if p.split(line) {
		p.head(known)
		p.body()
		p.dst = append(p.dst, '\n')
		p.gap = 0 // nothing followed
		p.writeBlocks()
	} else {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		p.dst = appendPlain(p.dst, bytes.TrimSuffix(line, []byte{'\r'}))
		p.dst = append(p.dst, '\n')
	}
	dst, p.dst, p.src = p.dst, nil, nil // the bytes belong to the caller
	return dst
}

// begin writes the pending spaces, and switches color on.
func (p *painter) begin(color string) {
	p.spaces(p.gap)
	p.gap = 0
	if p.color {
		p.dst = append(p.dst, color...)
	}
}

// spaces writes n spaces.
func (p *painter) spaces(n int) {
	const spaces = "                                                                "
	for ; n > len(spaces); n -= len(spaces) {
		p.dst = append(p.dst, spaces...)
	}
	p.dst = append(p.dst, spaces[:n]...)
}

// end switches color off again.
func (p *painter) end(color string) {
	if p.color && color != "" {
		p.dst = append(p.dst, sgrReset...)
	}
}

// head writes time and level, or leaves their columns blank.
func (p *painter) head(known *nib.Record) {
	if p.timeFormat != "" {
		if raw := p.valueOf(asTime); raw != nil {
			p.begin(sgrDim)
			p.time(raw, known)
			p.end(sgrDim)
		} else {
			p.gap += p.timeWidth
		}
		p.gap++
	}
	p.level = nib.LevelInfo
	if known != nil {
		p.level = known.Level
	}
	if raw := p.valueOf(asLevel); raw != nil {
		var tag []byte
		tag, p.level = p.tagOf(raw, p.level)
		color := levelColor(p.level)
		p.begin(color)
		p.dst = append(p.dst, tag...)
		p.end(color)
		p.gap += max(p.levelWidth-width(tag), 0)
	} else {
		p.gap += p.levelWidth
	}
	if p.levelWidth > 0 {
		p.gap++
	}
}

// time writes the time of the record of a message, or else of the line: a line
// without a message may be one of another logger, whose record has the time of
// the call that passed it on. A time that cannot be parsed is shown unchanged,
// unless the record has the instant.
func (p *painter) time(raw []byte, known *nib.Record) {
	var t time.Time
	isTimed := known != nil && known.Time != 0 &&
		known.Time != math.MaxInt64 && known.Time != math.MinInt64
	parsed := false
	if !isTimed || known.Message == nil {
		t, parsed = linevalue.ParseTime(raw, p.lineFormat, p.lineZone)
	}
	switch {
	case parsed:
	case isTimed:
		t = time.Unix(0, known.Time)
	default:
		p.value(raw)
		return
	}
	t = t.In(p.timeZone)
	if p.timeFormat == defaultTimeFormat {
		p.dst = appendClock(p.dst, t)
		return
	}
	p.clock = t.AppendFormat(p.clock[:0], p.timeFormat)
	p.dst = appendPlain(p.dst, p.clock)
}

// appendClock appends t in defaultTimeFormat.
func appendClock(dst []byte, t time.Time) []byte {
	hour, minute, second := t.Clock()
	milli := t.Nanosecond() / 1e6
	return append(dst, digit(hour/10), digit(hour%10), ':',
		digit(minute/10), digit(minute%10), ':', digit(second/10), digit(second%10), '.',
		digit(milli/100), digit(milli/10%10), digit(milli%10))
}

func digit(n int) byte { return '0' + byte(n) }

// body writes logger, message and fields.
func (p *painter) body() {
	pad := 0
	if columns := p.logger() + p.message(); columns > 0 {
		p.gap = 2
		pad = max(p.messageColumns()-columns, 0)
	}
	switch {
	case len(p.fields) == 0:
	case p.width > 0:
		p.fit(pad)
	default:
		p.spaces(p.gap + pad)
		p.dst = append(p.dst, p.fields[:len(p.fields)-1]...)
	}
}

// logger writes the name of the logger and returns its width.
func (p *painter) logger() int {
	raw := p.valueOf(asLogger)
	if raw == nil {
		return 0
	}
	p.begin(sgrLogger)
	from := len(p.dst)
	p.value(raw)
	p.dst = append(p.dst, ':')
	columns := width(p.dst[from:])
	p.end(sgrLogger)
	p.gap++
	return columns + 1
}

// message writes the message and returns its width.
func (p *painter) message() int {
	raw := p.valueOf(asMessage)
	if raw == nil || string(raw) == `""` {
		return 0
	}
	color := sgrBold
	if p.level < nib.LevelInfo {
		color = ""
	}
	p.begin(color)
	from := len(p.dst)
	if raw[0] == '"' {
		p.firstLine(raw[1 : len(raw)-1])
	} else {
		p.value(raw)
	}
	columns := width(p.dst[from:])
	p.end(color)
	return columns
}

// field writes a field without a fixed place, or leaves it to the blocks.
func (p *painter) field(s *jsonread.Span, r role) {
	key, value := s.Key(p.src), s.Value(p.src)
	switch {
	case r == asError && p.hasLines(s):
		p.blocks = append(p.blocks, *s)
		return
	case r == asError:
		p.begin(sgrError)
		p.text(key, inKey)
		p.dst = append(p.dst, '=')
		p.value(value)
		p.end(sgrError)
	case r == asDuration:
		p.key(key)
		p.duration(value)
	default:
		p.key(key)
		p.value(value)
	}
	p.dst = append(p.dst, p.separator)
}
