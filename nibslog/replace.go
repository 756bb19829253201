// SPDX-License-Identifier: Apache-2.0

package nibslog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/layout"
)

// A replacer makes lines for a Handler with ReplaceAttr. ReplaceAttr may return
// the built-in attributes with any key and value, so they are ordinary fields,
// of a layout without keys. They come first in the line, before bound fields;
// so these are kept here, as attributes.
type replacer struct {
	replace   func(groups []string, a slog.Attr) slog.Attr
	addSource bool
	tooDeep   *atomic.Uint64 // lines of package log that were dropped; see handleLog

	// scopes are the line's object, which has no name, and the groups of
	// WithGroup, each within the one before. Never empty. The attributes have
	// been replaced and hold no pointers. Shared with other handlers: never
	// changed.
	scopes []scope
}

type scope struct {
	name  string
	attrs []slog.Attr
}

func newReplacer(opts *slog.HandlerOptions) *replacer {
	return &replacer{replace: opts.ReplaceAttr, addSource: opts.AddSource,
		tooDeep: new(atomic.Uint64), scopes: make([]scope, 1)}
}

// groups returns the names of the open groups, in a new slice.
func (p *replacer) groups() []string {
	names := make([]string, 0, len(p.scopes)+4)
	for _, s := range p.scopes[1:] {
		names = append(names, s.name)
	}
	return names
}

func (p *replacer) withGroup(name string) *replacer {
	n := *p
	n.scopes = append(slices.Clip(p.scopes), scope{name: name})
	return &n
}

func (p *replacer) withAttrs(attrs []slog.Attr) *replacer {
	t := tree{replace: p.replace, groups: p.groups()}
	var added []slog.Attr
	for _, a := range attrs {
		added = t.add(added, a)
	}
	new(freezer).freeze(added)
	n := *p
	n.scopes = slices.Clone(p.scopes)
	last := &n.scopes[len(n.scopes)-1]
	last.attrs = append(slices.Clip(last.attrs), added...)
	return &n
}

// event begins the line of r and adds everything to it. ReplaceAttr runs within
// Func, which counts the line if it ends the goroutine or leads to itself.
func (p *replacer) event(ctx context.Context, l *nib.Logger, r *slog.Record) *nib.Event {
	carried := l.AppendFields(nil, func(e *nib.Event) { e.Ctx(ctx) })
	e := l.Entry(nib.Entry{Time: r.Time, Level: nib.Level(r.Level), Message: r.Message})
	var builtin, attrs []slog.Attr
	e.Func(func(*nib.Event) { builtin, attrs = p.attrs(r) })
	if builtin == nil { // logging leads to itself
		builtin = []slog.Attr{slog.String(slog.MessageKey, r.Message)}
	}
	addMissing(e.Attrs(builtin...).Attrs(attrs...), carried, builtin)
	return e
}

// addMissing adds the encoded fields that the line does not have, as Event.Ctx
// does; but only here are the keys of the built-in attributes known.
func addMissing(e *nib.Event, fields []byte, builtin []slog.Attr) {
	for key, value := range jsonread.Fields(fields) {
		name, _ := jsonread.AppendText(nil, key)
		if had, ok := e.Lookup(string(name)); !ok || !bytes.Equal(had, value) {
			e.RawJSON(freeKey(string(name), builtin), value)
		}
	}
}

// freeKey returns key, with a prefix if a built-in attribute has it.
func freeKey(key string, builtin []slog.Attr) string {
	if slices.ContainsFunc(builtin, func(b slog.Attr) bool { return b.Key == key }) {
		return "field." + key
	}
	return key
}

// attrs calls ReplaceAttr for everything in r.
func (p *replacer) attrs(r *slog.Record) (builtin, attrs []slog.Attr) {
	builtin = p.builtin(r)
	t := tree{replace: p.replace, groups: p.groups()}
	r.Attrs(func(a slog.Attr) bool {
		attrs = t.add(attrs, a)
		return true
	})
	for i := len(p.scopes) - 1; i > 0; i-- {
		group := slog.GroupValue(slices.Concat(p.scopes[i].attrs, attrs)...)
		attrs = []slog.Attr{{Key: p.scopes[i].name, Value: group}}
	}
	attrs = slices.Concat(p.scopes[0].attrs, attrs)
	for i := range attrs {
		attrs[i].Key = freeKey(attrs[i].Key, builtin)
	}
	return builtin, attrs
}

// builtin returns the replaced built-in attributes. They are in no group, and
// neither are their members: ReplaceAttr gets nil groups for all of it.
func (p *replacer) builtin(r *slog.Record) []slog.Attr {
	t := tree{replace: p.replace}
	attrs := make([]slog.Attr, 0, 4)
	if !r.Time.IsZero() {
		attrs = t.add(attrs, slog.Time(slog.TimeKey, r.Time))
	}
	attrs = t.add(attrs, slog.Any(slog.LevelKey, r.Level))
	if p.addSource {
		src := source(r.PC)
		attrs = t.add(attrs, slog.Any(slog.SourceKey, src))
	}
	return t.add(attrs, slog.String(slog.MessageKey, r.Message))
}

// A tree is a walk over attributes that replaces them.
type tree struct {
	replace func(groups []string, a slog.Attr) slog.Attr
	groups  []string // names of the enclosing groups; nil among the built-in attributes
	depth   int
	tooDeep int // number of times that the attribute has reached maxDepth, which lowers it
}

// maxDepth is the maximum nesting of groups, as everywhere in nib.
const maxDepth = 32

// add appends the result of replacing a: nothing, one attribute without
// LogValuers in it, or several if a is a group without a key.
func (t *tree) add(dst []slog.Attr, a slog.Attr) []slog.Attr {
	a.Value = usercode.Resolve(a.Value, logValue)
	if a.Value.Kind() != slog.KindGroup {
		a = t.call(a)
		a.Value = usercode.Resolve(a.Value, logValue)
	}
	if a.Value.Kind() == slog.KindAny {
		switch v := a.Value.Any().(type) {
		case nil:
			if a.Key == "" {
				return dst
			}
		case *slog.Source:
			a.Value = callsite.SourceGroup(v)
		}
	}
	if a.Value.Kind() == slog.KindGroup {
		return t.addGroup(dst, a)
	}
	return append(dst, a)
}

func (t *tree) addGroup(dst []slog.Attr, a slog.Attr) []slog.Attr {
	if t.depth == 0 {
		t.tooDeep = 0
	}
	// Lowered, since a value that contains itself twice has 2 to the 32 paths
	// down.
	if t.depth+t.tooDeep >= maxDepth {
		t.tooDeep++
		return append(dst, slog.String(cmp.Or(a.Key, "depth"), "!ERROR: nested deeper than 32"))
	}
	t.depth++
	defer func() { t.depth-- }()
	if a.Key == "" {
		for _, m := range a.Value.Group() {
			dst = t.add(dst, m)
		}
		return dst
	}
	outer := t.groups
	if outer != nil {
		t.groups = append(outer, a.Key)
	}
	var members []slog.Attr
	for _, m := range a.Value.Group() {
		members = t.add(members, m)
	}
	t.groups = outer
	if len(members) == 0 {
		return dst
	}
	return append(dst, slog.Attr{Key: a.Key, Value: slog.GroupValue(members...)})
}

// call calls ReplaceAttr. Its panic becomes the value.
func (t *tree) call(a slog.Attr) (replaced slog.Attr) {
	defer func() {
		if p := recover(); p != nil {
			replaced = slog.Attr{Key: a.Key, Value: panicValue(p)}
		}
	}()
	return t.replace(t.groups, a)
}

// A freezer encodes values that the caller may still change. It is the sink of
// its own logger and keeps the value of the field v.
type freezer struct {
	log   *nib.Logger
	value json.RawMessage
}

// freeze modifies attrs in place: add has made them and keeps no other
// reference.
func (f *freezer) freeze(attrs []slog.Attr) {
	for i := range attrs {
		switch v := attrs[i].Value; v.Kind() {
		case slog.KindGroup:
			f.freeze(v.Group())
		case slog.KindAny:
			if f.log == nil {
				f.log = nib.NewSink(f, nib.WithLayout(bare()))
			}
			f.log.Entry(nib.Entry{}).Attrs(slog.Attr{Key: "v", Value: v}).Send()
			attrs[i].Value = slog.AnyValue(f.value)
		}
	}
}

// WriteRecord implements [nib.Sink].
func (f *freezer) WriteRecord(r *nib.Record) error {
	v, _ := r.Lookup("v")
	f.value = slices.Clone(v)
	return nil
}

// bare returns slog's layout without any keys.
func bare() nib.Layout {
	l := layout.Slog()
	for _, key := range []*string{&l.TimeKey, &l.LevelKey, &l.MessageKey, &l.CallerKey, &l.StackKey,
		&l.LoggerKey} {
		*key = nib.OmitKey
	}
	return l
}
