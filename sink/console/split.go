// SPDX-License-Identifier: Apache-2.0

package console

import (
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
	inBlock // below the line

	roles = int(asField) // the number of roles with a key
)

// A field is a member of a line.
type field struct {
	jsonread.Span
	role role
}

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
	if !v.special[keyMark(key)] {
		return asField // most keys
	}
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

// keyMark is a hash of the ends and the length of a key.
func keyMark(key []byte) byte {
	n := byte(len(key))
	if n == 0 {
		return 0
	}
	return key[0] + key[len(key)-1]<<2 + n<<4
}

// panicKey is the key with which nib and nibhttp write the text of a panic.
const panicKey = "panic"

// split splits line into p.fields and gives each field its role. It returns
// false unless line is a JSON object with at least one field.
func (p *painter) split(line []byte) bool {
	p.src, p.fields, p.at = jsonread.TrimSpace(line), p.fields[:0], [roles]int{}
	if len(p.src) == 0 || p.src[0] != '{' {
		return false
	}
	members := jsonread.MembersOf(p.src)
	for {
		n := len(p.fields)
		p.fields = append(p.fields, field{})
		f := &p.fields[n] // set in place: a copy would wait for the stores to its parts
		if !members.Next(&f.Span) {
			p.fields = p.fields[:n]
			return n > 0 && members.Complete()
		}
		f.role = p.roleOf(f.Key(p.src))
		if f.role < asError {
			p.place(f, n+1)
		}
	}
}

// place sets p.at for f, field number n, unless another field has its role. Of
// duplicate keys the last message wins, because nib writes it after all fields
// unless the layout has it first. For all other roles the first field wins.
// There may be several errors.
func (p *painter) place(f *field, n int) {
	switch earlier := p.at[f.role]; {
	case earlier == 0:
		p.at[f.role] = n
	case f.role == asMessage && !p.messageFirst:
		p.fields[earlier-1].role = asField
		p.at[f.role] = n
	default:
		f.role = asField
	}
}

// valueOf returns the value of the field with a role, or nil.
func (p *painter) valueOf(r role) []byte {
	if i := p.at[r]; i > 0 {
		return p.fields[i-1].Value(p.src)
	}
	return nil
}
