// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"math"
	"math/bits"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

const (
	memoryShare = 100 // a segment is at most this part of the memory
	volumeShare = 10  // segments and copies are at most this part of the volume
	floorShare  = 20  // share of the volume that is left to others
	mostFree    = 1 << 30
)

// sizes sets the sizes that a Config omits: a segment is at most 1 % of the
// memory that this process may use, and all segments together with their copies
// 10 % of the volume, or of the memory if the volume is in memory.
func (c Config) sizes(dir string, v store.Volume, memory int64) Config {
	given := c.SegmentSize > 0
	if !given {
		c.SegmentSize = between(segment.MinSize, wholePages(memory/memoryShare), defaultSegment)
		if c.Size > 0 {
			c.SegmentSize = between(segment.MinSize, wholePages(c.Size/4), c.SegmentSize)
		}
	}
	if c.Size == 0 {
		c.Size = defaultDisk
		most := v.Size / volumeShare
		switch {
		case dir == "":
			c.Size, most = defaultMemory, memory/volumeShare
		case v.Memory:
			most = min(most, memory/volumeShare)
		case c.Sync != SyncNever:
			most /= 2 // half is for the copies
		}
		if v.Size > 0 || dir == "" {
			c.Size = min(c.Size, most)
		}
		if !given {
			c.SegmentSize = between(segment.MinSize, wholePages(c.Size/4), c.SegmentSize)
		}
		c.Size = max(c.Size, 2*c.SegmentSize)
	}
	if c.MinFree == 0 {
		c.MinFree = min(v.Size/floorShare, mostFree)
	}
	return c
}

// between returns n, but at least low and at most high.
func between(low, n, high int64) int64 { return min(max(n, low), high) }

// wholePages returns the highest power of two up to n, but at least
// segment.MinSize, so that a size is a whole number of pages.
func wholePages(n int64) int64 {
	return 1 << (bits.Len64(uint64(max(n, segment.MinSize))) - 1)
}

// memoryLimit returns the maximum memory of this process: the lowest of the
// limit of its control group, GOMEMLIMIT, and the memory of the machine.
func memoryLimit() int64 {
	limit := min(machineMemory(), debug.SetMemoryLimit(-1))
	own, _ := os.ReadFile("/proc/self/cgroup") // exists only on Linux
	for _, name := range groupLimits(string(own)) {
		text, _ := os.ReadFile(name) // the file need not exist
		limit = min(limit, limitIn(string(text)))
	}
	return limit
}

// limitIn returns the limit in the text of such a file, or math.MaxInt64.
func limitIn(text string) int64 {
	// A number that is too large is math.MaxInt64.
	if n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64); n > 0 {
		return n
	}
	return math.MaxInt64
}

// groupLimits returns the files that may contain the memory limits of a control
// group and of its ancestors, for versions 2 and 1. The text is from
// /proc/self/cgroup. In a container the group of the process is the root.
func groupLimits(text string) (names []string) {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		root, file := "", ""
		switch {
		case parts[0] == "0" && parts[1] == "":
			root, file = "/sys/fs/cgroup", "/memory.max"
		case parts[1] == "memory":
			root, file = "/sys/fs/cgroup/memory", "/memory.limit_in_bytes"
		default:
			continue
		}
		for path := strings.TrimSuffix(parts[2],
			"/"); ; path = path[:strings.LastIndexByte(path, '/')] {
			names = append(names, root+path+file)
			if path == "" || path[0] != '/' {
				break
			}
		}
	}
	return names
}

// machineMemory returns the memory of the machine, or math.MaxInt64 if it is
// not known.
func machineMemory() int64 {
	text, _ := os.ReadFile("/proc/meminfo") // exists only on Linux
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "MemTotal: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	return math.MaxInt64
}
