// SPDX-License-Identifier: Apache-2.0

package console

import (
	"slices"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
)

// A role determines how a field is shown.
type role uint8

const (
	asTime role = iota
	asLevel
	asLogger
	asCaller
	asMessage
	asStack
	asError
	asField // any other
	asDuration

	roles = int(asField) // the number of roles with a key
)

// roleKeys returns the key of each role, escaped as nib writes it. A field that
// the layout omits gets a key that no field has.
func roleKeys(l nib.Layout) (keys [roles]string) {
	for i, key := range []string{
		asTime:    l.TimeKey,
		asLevel:   l.LevelKey,
		asLogger:  l.LoggerKey,
		asCaller:  l.CallerKey,
		asMessage: l.MessageKey,
		asStack:   l.StackKey,
		asError:   l.ErrorKey,
	} {
		if key == nib.OmitKey {
			keys[i] = `"`
			continue
		}
		keys[i] = escapedKey(key)
	}
	return keys
}

// escapedKey returns key as nib writes it, without the quotes.
func escapedKey(key string) string {
	escaped := jsonenc.AppendString(nil, key)
	return string(escaped[1 : len(escaped)-1])
}

// roleOf returns the role of a key. A key that is escaped unnecessarily is not
// recognised: no log library writes its keys like that.
func (v *view) roleOf(key []byte) role {
	for i := range v.keys {
		if string(key) == v.keys[i] {
			return role(i)
		}
	}
	if string(key) == panicKey {
		return asError
	}
	for _, k := range v.durations {
		if string(key) == k {
			return asDuration
		}
	}
	return asField
}

// panicKey is the key with which nib and nibhttp write the text of a panic.
const panicKey = "panic"

// split appends the fields of line, and its call site, to p.fields as they are
// written, each followed by p.separator. Other members go to p.at, and errors
// of several lines to p.blocks. It returns false unless line is a JSON object
// with at least one member.
func (p *painter) split(line []byte) bool {
	p.src, p.at, p.blocks = jsonread.TrimSpace(line), [roles]jsonread.Span{}, p.blocks[:0]
	p.isCut = false
	if len(p.src) == 0 || p.src[0] != '{' {
		return false
	}
	pairs := p.inRow
	p.separator = ' '
	if p.width > 0 {
		pairs, p.separator = p.inRows, rowBreak
	}
	// The painter writes to p.dst.
	p.dst, p.fields = p.fields[:0], p.dst
	members, found := jsonread.MembersOf(p.src), false
	for s := new(jsonread.Span); ; found = true {
		var ok bool
		if p.dst, ok = members.AppendPairs(p.dst, pairs, s); !ok {
			break
		}
		p.member(s)
	}
	found = found || len(p.dst) > 0
	if raw := p.valueOf(asCaller); raw != nil {
		p.begin(sgrDim)
		p.value(raw)
		p.end(sgrDim)
		p.dst = append(p.dst, p.separator)
	}
	p.dst, p.fields = p.fields, p.dst
	return found && members.Complete()
}

// member places s. Of duplicate keys the last message wins, because nib writes
// it after all fields unless the layout has it first: the earlier one becomes a
// field where it was. For all other roles the first member wins. There may be
// several errors.
func (p *painter) member(s *jsonread.Span) {
	r := p.roleOf(s.Key(p.src))
	if r >= asError {
		p.field(s, r)
		return
	}
	earlier := p.at[r]
	replaces := r == asMessage && !p.messageFirst
	if earlier.IsSet() && !replaces {
		p.field(s, asField)
		return
	}
	p.at[r] = *s
	if r == asStack && !p.isText(s) {
		p.field(s, asField)
	}
	if r != asMessage {
		return
	}
	if earlier.IsSet() {
		from := len(p.dst)
		p.field(&earlier, asField)
		slices.Reverse(p.dst[p.messageAt:from])
		slices.Reverse(p.dst[from:])
		slices.Reverse(p.dst[p.messageAt:])
	}
	p.messageAt = len(p.dst)
}

// valueOf returns the value of the member with a role, or nil.
func (p *painter) valueOf(r role) []byte {
	if s := &p.at[r]; s.IsSet() {
		return s.Value(p.src)
	}
	return nil
}
