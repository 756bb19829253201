// SPDX-License-Identifier: Apache-2.0

package plan

// The properties of a type are those that it has because of its parts. Making a
// plan adds some and removes none, so that propagating them ends.
type properties struct {
	calls  bool   // user code may run
	shows  bool   // user code may get the address of the value or a part of it
	locked bool   // see Plan.Locked
	bad    *Error // why no value of the type can be encoded
}

// add adds the properties of a part. always means that each value has the part,
// within that it is inside the value itself.
func (q *properties) add(part *Plan, step string, always, within bool) {
	q.calls = q.calls || part.props.calls
	q.shows = q.shows || within && part.props.shows
	q.locked = q.locked || within && part.props.locked
	if bad := part.props.bad; q.bad == nil && bad != nil && (always || bad.tag) {
		q.bad = &Error{Path: step + bad.Path, Err: bad.Err, tag: bad.tag}
	}
}

// addParts adds the properties of the plans that p uses.
func (p *Plan) addParts() {
	switch p.code {
	case codeStruct:
		for i := range p.ops {
			switch o := &p.ops[i]; {
			case o.sub == nil || o.code == codeConst:
			case o.code == codeEmbed:
				p.props.add(o.sub, "", false, false)
			default:
				p.props.add(o.sub, p.steps[i], o.omit == omitNever, true)
			}
		}
	case codeArray, codeQuoted:
		p.props.add(p.elem, "[]", p.n > 0 || p.code == codeQuoted, true)
	case codePointer:
		p.props.add(p.elem, "", false, false)
	case codeSlice, codeMap, codeMapAny:
		p.props.add(p.elem, "[]", false, false)
	}
}
