// SPDX-License-Identifier: Apache-2.0

package nibslog_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib/nibslog"
)

// sizes returns lengths of bound context, in bytes: all small ones, and those
// next to the size classes of the allocator.
func sizes() (all []int) {
	for n := range 130 {
		all = append(all, n)
	}
	for n := 128; n <= 4096; n += 128 {
		all = append(all, n-1, n, n+1)
	}
	return all
}

// child derives a handler from parent and returns the text its lines must have.
func child(parent slog.Handler, name string, size int) (slog.Handler, string) {
	text := strings.Repeat(name, size/len(name)+1)[:size]
	h := parent.WithAttrs([]slog.Attr{slog.String("who", name), slog.String("text", text)}).WithGroup(name)
	return h, fmt.Sprintf(`"who":"%s","text":"%s","%s":{"n":1}}}`+"\n", name, text, name)
}

func TestBoundContextBelongsToItsLoggerAlone(t *testing.T) {
	for _, replace := range []func([]string, slog.Attr) slog.Attr{nil, keep} {
		for _, size := range sizes() {
			if replace != nil && size%128 > 2 {
				continue
			}
			parent := strings.Repeat("p", size)
			for _, concurrent := range []bool{false, true} {
				var b bytes.Buffer
				root := nibslog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: replace}).
					WithGroup("g").WithAttrs([]slog.Attr{slog.String("parent", parent)})
				got := twoChildren(root, &b, concurrent, size)
				for _, g := range got {
					if want := fmt.Sprintf(`{"level":"INFO","msg":"m","g":{"parent":"%s",`, parent) + g.want; g.got != want {
						t.Fatalf("replace %v, concurrent %v, %d bytes: got\n%swant\n%s", replace != nil, concurrent, size, g.got, want)
					}
				}
			}
		}
	}
}

type gotWant struct{ got, want string }

// twoChildren derives two handlers from root, one after the other or at once,
// and then writes a line with each.
func twoChildren(root slog.Handler, b *bytes.Buffer, concurrent bool, size int) (all []gotWant) {
	names := []string{"alice", "mallory"}
	handlers, wants := make([]slog.Handler, 2), make([]string, 2)
	var group sync.WaitGroup
	for i, name := range names {
		derive := func() { handlers[i], wants[i] = child(root, name, size+i) }
		if !concurrent {
			derive()
			continue
		}
		group.Add(1)
		go func() {
			defer group.Done()
			derive()
		}()
	}
	group.Wait()
	for i, h := range handlers {
		b.Reset()
		r := slog.NewRecord(time.Time{}, slog.LevelInfo, "m", 1)
		r.AddAttrs(slog.Int("n", 1))
		_ = h.Handle(context.Background(), r)
		all = append(all, gotWant{b.String(), wants[i]})
	}
	return all
}

func TestChildrenOfAGrownParentShareNothing(t *testing.T) {
	for _, replace := range []func([]string, slog.Attr) slog.Attr{nil, keep} {
		var b bytes.Buffer
		var parent slog.Handler = nibslog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: replace})
		want := ""
		for n := range 20 {
			a := parent.WithAttrs([]slog.Attr{slog.String("who", "alice")})
			m := parent.WithAttrs([]slog.Attr{slog.String("who", "mallory")})
			g := parent.WithGroup("g").WithAttrs([]slog.Attr{slog.String("who", "mallory")})
			for h, who := range map[slog.Handler]string{a: `"who":"alice"`, m: `"who":"mallory"`, g: `"g":{"who":"mallory"}`} {
				b.Reset()
				if got := handle(h, &b); got != want+who {
					t.Errorf("replace %v, %d attributes: got %s, want %s", replace != nil, n, got, want+who)
				}
			}
			parent = parent.WithAttrs([]slog.Attr{slog.Int("n", n)})
			want += fmt.Sprintf(`"n":%d,`, n)
		}
	}
}
