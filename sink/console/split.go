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

// A field is a member of a line: the key without its quotes and the value, both
// as written in the line.
type field struct {
	key, value     []byte
	ofKey, ofValue jsonread.Text // their classes
	role           role
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
	if len(key) > 0 && !v.begins[key[0]] {
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

// panicKey is the key with which nib and nibhttp write the text of a panic.
const panicKey = "panic"

// split splits line into p.fields and gives each field its role. It returns
// false unless line is a JSON object with at least one field.
func (p *painter) split(line []byte) bool {
	p.fields, p.at = p.fields[:0], [roles]int{}
	line = jsonread.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	members := jsonread.MembersOf(line)
	for {
		key, value, ofKey, ofValue, ok := members.Next()
		if !ok {
			return len(p.fields) > 0 && members.Complete()
		}
		p.add(field{key, value, ofKey, ofValue, p.roleOf(key)})
	}
}

// add adds a field. Of duplicate keys the last message wins, because nib writes
// it after all fields unless the layout has it first. For all other roles the
// first field wins. There may be several errors.
func (p *painter) add(f field) {
	if f.role < asError {
		switch earlier := p.at[f.role]; {
		case earlier == 0:
			p.at[f.role] = len(p.fields) + 1
		case f.role == asMessage && !p.messageFirst:
			p.fields[earlier-1].role = asField
			p.at[f.role] = len(p.fields) + 1
		default:
			f.role = asField
		}
	}
	p.fields = append(p.fields, f)
}

// valueOf returns the value of the field with a role, or nil.
func (p *painter) valueOf(r role) []byte {
	if i := p.at[r]; i > 0 {
		return p.fields[i-1].value
	}
	return nil
}
