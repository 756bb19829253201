// SPDX-License-Identifier: Apache-2.0

// Package relay delivers the spools of dead processes.
package relay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/retry"
	"github.com/nib-log/nib/sink/spool"
)

// A Config sets the spools, the destinations and the limits of a run.
type Config struct {
	Root    string   // directory of a spool, or of several
	Targets []Target // the destinations
	Adopt   bool     // also take over spools whose use cannot be determined
	Once    bool     // end when everything is delivered, or cannot be
	// How long a spool must be without an owner before it is taken over, unless
	// Once.
	Grace time.Duration
	// How long the destinations may accept nothing before a spool is released.
	DeliverTimeout time.Duration
	Poll           time.Duration // interval between two searches
	Progress       time.Duration // interval between two progress reports of a long delivery

	// Report reports progress, a line at a time. It may be called by several
	// goroutines.
	Report func(dir, format string, values ...any)
}

// Counts are the results of a relay.
type Counts struct {
	Spools     int    // taken
	InUse      int    // left to the processes that have them open, at the end
	Delivered  uint64 // accepted by a destination; with several, each record counts for each
	Rejected   uint64 // records that a destination will never accept
	Unfinished uint64 // numbers whose calls had not returned
	Damaged    uint64
	Pending    uint64 // records in spools without an owner, at the end
}

// A Target is a destination. Open makes it for one spool, with the mark that
// the destination of the service has stored there, and the relay closes it if
// it has a method Close.
type Target struct {
	Name string // its name in spools; "" for a single Target: the only one in the spool
	Text string // human-readable description
	Open func(mark []byte) (delivery.Destination, error)
}

// A relay keeps the state of the spools that it has seen.
type relay struct {
	Config
	Counts
	known map[string]*known
	root  known // the spool at Root itself, which need not be one
	room  int   // bytes by which rejected records that go back may be longer than they were
}

// A known is the state of a spool that the relay has seen.
type known struct {
	free  time.Time // time at which it lost its owner; zero if it has one
	done  string    // the names in it after everything was delivered
	retry time.Time // time before which the spool is not taken
	pause retry.Pause
	said  string // why it is skipped
}

// Run delivers until ctx ends, or with Once until nothing is left to do. It
// takes the spools without an owner one after the other, in the order of their
// names, and releases each as soon as it is empty or the destination has
// accepted nothing for DeliverTimeout. The error is about Root and the
// directories in it that cannot be read; errors of a spool are passed to Report
// and counted in Counts.
func Run(ctx context.Context, c Config) (Counts, error) {
	r := relay{Config: c, known: map[string]*known{}}
	for first := true; ; first = false {
		dirs, err := spool.Find(c.Root)
		if err != nil && first && !isReadable(c.Root) {
			return r.Counts, err
		}
		r.found(dirs, err)
		for _, dir := range dirs {
			if ctx.Err() == nil {
				r.look(ctx, dir)
			}
		}
		if c.Once || ctx.Err() != nil {
			r.countPending(dirs)
			return r.Counts, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(c.Poll):
		}
	}
}

func isReadable(dir string) bool {
	_, err := os.ReadDir(dir)
	return err == nil
}

// look takes a spool if it has no owner and has records for the destination.
func (r *relay) look(ctx context.Context, dir string) {
	k := r.known[dir]
	if k == nil {
		k = &known{}
		r.known[dir] = k
	}
	if o := spool.OwnerOf(dir); o == spool.OwnerAlive || o == spool.OwnerUnknown && !r.Adopt {
		k.free = time.Time{}
		if o == spool.OwnerUnknown {
			r.sayOnce(k, dir,
				"left alone: locks do not hold here, so it may be in use; if its process has "+
					"ended, use --adopt")
		}
		return
	}
	now := time.Now()
	if k.free.IsZero() {
		k.free = now
	}
	if !r.Once && (now.Sub(k.free) < r.Grace || now.Before(k.retry)) ||
		k.done != "" && k.done == listing(dir) {
		return
	}
	v, err := spool.Inspect(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.sayOnce(k, dir, err.Error())
		}
		return
	}
	// The cursor has the mark that the destination needs.
	if i := slices.IndexFunc(v.Unread, isCursor); i >= 0 {
		r.sayOnce(k, dir,
			"left alone: "+v.Unread[i]+" cannot be read now, or is of a later version")
		return
	}
	names, err := r.namesIn(v)
	if err != nil {
		r.sayOnce(k, dir, err.Error())
		return
	}
	if pendingFor(v, names) == 0 && len(v.Bad) == 0 && len(v.Unread) == 0 {
		k.done = listing(dir)
		return
	}
	for i, name := range names {
		r.Report(dir, "taken, %s records that %s has not settled go to %s",
			term.Count(v.Pending(name)), name, r.Targets[i].Text)
	}
	err = r.take(ctx, v, names)
	switch {
	case err == nil:
		k.done, k.pause = listing(dir), 0
	case errors.Is(err, spool.ErrInUse):
		k.free = time.Time{} // the owner was faster
	default:
		r.Report(dir, "released: %v", err)
		k.retry = time.Now().Add(k.pause.Next(r.Grace, maxPause))
	}
}

func isCursor(name string) bool { return strings.HasSuffix(name, ".cursor") }

// maxPause is the longest pause before a spool is taken again.
const maxPause = time.Minute

// found records the spools that exist. An error of reading Root is reported
// once: it may be on a volume that is mounted again. With Once, Run returns it.
func (r *relay) found(dirs []string, err error) {
	if err != nil && !r.Once {
		r.sayOnce(&r.root, r.Root, err.Error())
		return
	}
	r.root.said = ""
	maps.DeleteFunc(r.known, func(dir string, _ *known) bool { return !slices.Contains(dirs, dir) })
}

// sayOnce reports why a spool is skipped, once until the reason changes.
func (r *relay) sayOnce(k *known, dir, why string) {
	if k.said != why {
		k.said = why
		r.Report(dir, "%s", why)
	}
}

// listing returns the names in a directory. They change when a process opens
// the spool, because the process makes a segment.
func listing(dir string) string {
	entries, _ := os.ReadDir(dir) // without names, the spool is checked again
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Name() + "/")
	}
	return b.String()
}

// namesIn returns the names of the targets in a spool. They must be those that
// its process used, or lines are delivered twice.
func (r *relay) namesIn(v *spool.View) (names []string, err error) {
	for _, t := range r.Targets {
		names = append(names, t.Name)
	}
	if len(names) != 1 || names[0] != "" {
		return names, nil
	}
	var known []string
	for _, d := range v.Destinations {
		known = append(known, d.Name)
	}
	switch len(known) {
	case 0:
		return []string{"destination"}, nil // the default of spool.Config.Name
	case 1:
		return known, nil
	}
	return nil, fmt.Errorf(
		"left alone: it has several destinations, %s; say which one this is: --to NAME=TARGET",
		strings.Join(known, ", "))
}

// pendingFor returns the number of records that are pending for some
// destinations, in total.
func pendingFor(v *spool.View, names []string) (n uint64) {
	for _, name := range names {
		n += v.Pending(name)
	}
	return n
}

// countPending counts the records that are left.
func (r *relay) countPending(dirs []string) {
	for _, dir := range dirs {
		v, err := spool.Inspect(dir)
		if err != nil {
			continue // gone, or reported already
		}
		if v.Owner == spool.OwnerAlive {
			r.InUse++
			continue
		}
		names, err := r.namesIn(v)
		if err != nil {
			r.Pending += v.Numbers
			continue
		}
		r.Pending += pendingFor(v, names)
	}
}
