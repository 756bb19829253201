// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
)

// A schema is published by a service for the lines that it accepts; the files
// in testdata name their sources and licences.
type schema struct {
	Fields map[string]struct {
		Type     string // string, integer, int64 (digits in a string), time, severity, object
		Required bool
		Top      bool `json:"top_level_field"` // not as a part of an object
	}
	Severities []string // lowest first
}

func readSchema(t *testing.T, name string) (s schema) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".json")
	must.Succeed(t, err)
	must.Succeed(t, json.Unmarshal(text, &s))
	return s
}

// check returns how a line differs from the schema. Fields in own are the
// program's.
func (s *schema) check(line map[string]any, own ...string) (faults []string) {
	flat := map[string]any{}
	flatten("", line, flat)
	for key, value := range flat {
		f, ok := s.Fields[key]
		switch {
		case slices.Contains(own, key):
		case !ok:
			faults = append(faults, key+" is not in the schema")
		case !s.fits(f.Type, value):
			faults = append(faults, fmt.Sprintf("%s is %v, want a %s", key, value, f.Type))
		}
	}
	for key, f := range s.Fields {
		if _, ok := flat[key]; f.Required && !ok {
			faults = append(faults, key+" is missing")
		} else if _, top := line[key]; ok && f.Top && !top {
			faults = append(faults, key+" is within an object")
		}
	}
	return faults
}

func (s *schema) fits(kind string, value any) bool {
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	switch kind {
	case "integer":
		_, err := number.Int64()
		return isNumber && err == nil
	case "int64":
		_, err := strconv.ParseInt(text, 10, 64)
		return isText && err == nil
	case "time", "datetime":
		_, err := time.Parse(time.RFC3339Nano, text)
		return isText && err == nil
	case "severity":
		return slices.Contains(s.Severities, text)
	}
	return isText
}

// flatten stores all values that are not objects in to, by their paths.
func flatten(prefix string, m, to map[string]any) {
	for key, value := range m {
		if inner, ok := value.(map[string]any); ok {
			flatten(prefix+key+".", inner, to)
		} else {
			to[prefix+key] = value
		}
	}
}

func TestLinesFitThePublishedSchema(t *testing.T) {
	for name, own := range map[string][]string{
		"ECS": {"user"}, "GCP": {"user", "logger", "error", "stack_trace"}, "Datadog": {"user", "caller"}, "OTel": {"user"},
	} {
		t.Run(name, func(t *testing.T) {
			s := readSchema(t, map[string]string{"ECS": "ecs", "GCP": "gcp", "Datadog": "datadog", "OTel": "otel"}[name])
			for level := nib.LevelTrace - 2; level <= nib.LevelFatal+2; level++ {
				m := fields(t, line(preset(t, name), func(l *nib.Logger) {
					l.Named("db").At(level).Err(errors.New("gone")).Int("user", 7).Msg("m")
				}, nib.WithLevel(level), nib.WithCaller(), nib.WithStack(level)))
				for _, fault := range s.check(m, own...) {
					t.Errorf("%v: %s", level, fault)
				}
			}
		})
	}
}

// Severities that fall where levels rise would make filters wrong.
func TestSeveritiesRiseWithTheLevel(t *testing.T) {
	for name, file := range map[string]string{"GCP": "gcp", "Datadog": "datadog", "OTel": "otel"} {
		s, p, last := readSchema(t, file), preset(t, name), -1
		for level := nib.LevelTrace - 9; level <= nib.LevelFatal+9; level++ {
			m := fields(t, line(p, func(l *nib.Logger) { l.At(level).Send() }, nib.WithLevel(level)))
			at := slices.Index(s.Severities, fmt.Sprint(m[p.LevelKey]))
			if at < last || at < 0 {
				t.Errorf("%s: %v is %v, which is not above the level before",
					name, level, m[p.LevelKey])
			}
			last = at
		}
	}
}

func TestTheSchemaCheckCanFail(t *testing.T) {
	s := readSchema(t, "ecs")
	for name, l := range map[string]string{
		"missing":  `{"@timestamp":"2026-01-02T15:04:05Z","log.level":"info"}`,
		"unknown":  `{"@timestamp":"2026-01-02T15:04:05Z","log.level":"info","ecs.version":"8","log.origin":{"stack":"x"}}`,
		"type":     `{"@timestamp":"2026-01-02T15:04:05Z","log.level":"info","ecs.version":"8","log.origin":{"file.line":"12"}}`,
		"time":     `{"@timestamp":"yesterday","log.level":"info","ecs.version":"8"}`,
		"in a log": `{"@timestamp":"2026-01-02T15:04:05Z","log":{"level":"info"},"ecs.version":"8"}`,
	} {
		if faults := s.check(fields(t, l)); len(faults) != 1 {
			t.Errorf("%s: got faults %q, want 1", name, faults)
		}
	}
}
