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
	field := func(
		_ *cobra.Command, args []string, typed string,
	) ([]string, cobra.ShellCompDirective) {
		name, value, ok := strings.Cut(typed, "=")
		seen := sampleFields(args)
		if !ok {
			return suffixed(slices.Sorted(maps.Keys(seen)), name,
				"="), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		var list []string
		for _, v := range slices.Sorted(maps.Keys(seen[name])) {
			if strings.HasPrefix(v, value) {
				list = append(list, name+"="+v)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
	names := func(
		_ *cobra.Command, args []string, typed string,
	) ([]string, cobra.ShellCompDirective) {
		before, last := "", typed
		if i := strings.LastIndexAny(typed, ", "); i >= 0 {
			before, last = typed[:i+1], typed[i+1:]
		}
		list := suffixed(slices.Sorted(maps.Keys(sampleFields(args))), last, "")
		for i := range list {
			list[i] = before + list[i]
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	levels := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"trace", "debug", "info", "warn", "error", "panic",
			"fatal"}, cobra.ShellCompDirectiveNoFileComp
	}
	for name, complete := range map[string]func(
		*cobra.Command, []string, string,
	) ([]string, cobra.ShellCompDirective){
		"field": field, "query": names, "fields": names, "by": names, "level": levels,
	} {
		_ = cmd.RegisterFlagCompletionFunc(name, complete) // a command need not have all of them
	}
}

func suffixed(names []string, prefix, suffix string) (list []string) {
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			list = append(list, name+suffix)
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
	sources, _ := logs.Find(slices.DeleteFunc(args, func(a string) bool {
		return a == "-" ||
			strings.Contains(a, "://")
	}), nil, false, time.Now())
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
