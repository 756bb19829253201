// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/internal/logread"
)

// completeFields completes the names and values of fields from the first lines
// of the files on the command line.
func completeFields(cmd *cobra.Command) {
	const noFile, noSpace = cobra.ShellCompDirectiveNoFileComp, cobra.ShellCompDirectiveNoSpace
	field := func(
		_ *cobra.Command, args []string, typed string,
	) ([]string, cobra.ShellCompDirective) {
		name, value, ok := strings.Cut(typed, "=")
		seen := sampleFields(args)
		if !ok {
			return offered(seen, "", name, "="), noFile | noSpace
		}
		return offered(seen[name], name+"=", value, ""), noFile
	}
	names := func(
		_ *cobra.Command, args []string, typed string,
	) ([]string, cobra.ShellCompDirective) {
		last := strings.LastIndexAny(typed, ", ") + 1
		return offered(sampleFields(args), typed[:last], typed[last:], ""), noFile | noSpace
	}
	levels := []string{"trace", "debug", "info", "warn", "error", "panic", "fatal"}
	for name, complete := range map[string]cobra.CompletionFunc{
		"field": field, "query": names, "fields": names, "by": names,
		"level": cobra.FixedCompletions(levels, noFile),
	} {
		_ = cmd.RegisterFlagCompletionFunc(name, complete) // a command need not have all of them
	}
}

// offered returns the keys that begin with what was typed, between two texts.
func offered[V any](m map[string]V, before, typed, after string) (list []string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if strings.HasPrefix(key, typed) {
			list = append(list, before+key+after)
		}
	}
	return list
}

// The limits for the input that completion reads and the values that it offers.
const (
	sampleSize   = 1 << 20
	sampleValues = 100
)

// sampleFields returns the values of the fields in the first lines.
func sampleFields(args []string) map[string]map[string]bool {
	seen := map[string]map[string]bool{"time": {}, "level": {}, "message": {}}
	isNoFile := func(arg string) bool { return arg == "-" || strings.Contains(arg, "://") }
	sources, _ := logs.Find(slices.DeleteFunc(args, isNoFile), nil, false, time.Now())
	for _, s := range sources {
		sampleSource(s, seen)
	}
	return seen
}

func sampleSource(s logs.Source, seen map[string]map[string]bool) {
	r, err := s.Open(context.Background())
	if err != nil {
		return
	}
	defer r.Close()
	for l, err := range logread.Lines(io.LimitReader(r, sampleSize)) {
		if err != nil {
			return
		}
		for key, value := range l.Fields() {
			name := string(key)
			if !isOffered(name) {
				continue
			}
			if seen[name] == nil {
				seen[name] = map[string]bool{}
			}
			if text := l.Text(value); len(seen[name]) < sampleValues && len(text) < 100 &&
				isOffered(string(text)) {
				seen[name][string(text)] = true
			}
		}
	}
}

// isOffered reports whether a shell may show a text: it has nothing that
// controls a terminal, and no tab or line break, which end it for the shell.
func isOffered(text string) bool { return term.Name(text) == text }
