// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"fmt"
	"strings"
)

// Keys are a program's own keys for the time, level and message of its lines. A
// key may be a path. A Line looks for them before the keys that it knows; "" is
// no key.
type Keys struct{ Time, Level, Message string }

// ParseKeys parses a text such as "time=ts,level=severity,message=event".
func ParseKeys(text string) (k Keys, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, key, ok := strings.Cut(part, "=")
		name, key = strings.TrimSpace(name), strings.TrimSpace(key)
		of := map[string]*string{"time": &k.Time, "level": &k.Level, "message": &k.Message}[name]
		switch {
		case of == nil || !ok || key == "":
			const want = "want time=KEY, level=KEY or message=KEY, with commas between"
			return Keys{}, fmt.Errorf("%q, %s", part, want)
		case *of != "":
			return Keys{}, fmt.Errorf("two keys for the %s: %q and %q", name, *of, key)
		}
		*of = key
	}
	return k, nil
}

// readTime looks for the time of l under the program's key.
func (k *Keys) readTime(l *Line) bool {
	raw, ok := lookupOwn(l, k.Time)
	if !ok {
		return false
	}
	t, ok := parseTime(k.Time, raw, l.clock.location())
	if !ok {
		t, ok = l.clock.valueTime(raw)
	}
	if ok {
		l.time, l.keys[roleTime], l.raws[roleTime] = t, k.Time, raw
	}
	return ok
}

func (k *Keys) readLevel(l *Line) bool {
	raw, ok := lookupOwn(l, k.Level)
	if !ok {
		return false
	}
	level, ok := parseLevel("level", raw)
	if ok {
		l.level, l.keys[roleLevel], l.raws[roleLevel] = level, k.Level, raw
	}
	return ok
}

func (k *Keys) readMessage(l *Line) bool {
	raw, ok := lookupOwn(l, k.Message)
	if ok {
		l.message, l.keys[roleMessage] = raw, k.Message
	}
	return ok
}

func lookupOwn(l *Line, key string) (raw []byte, ok bool) {
	if key == "" {
		return nil, false
	}
	raw, ok = l.Lookup(key)
	return raw, ok && len(raw) > 0
}
