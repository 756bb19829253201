// SPDX-License-Identifier: Apache-2.0

// Package stdout writes lines to the standard output of a service, without
// blocking or crashing the program if the reader stops or goes away.
//
//	func main() {
//		out := stdout.New(stdout.Config{
//			Stall: 50 * time.Millisecond,
//			OnStall: func(s stdout.Stats) {
//				stalls.Add(1)
//			},
//		})
//		defer out.Close()
//		log := nib.NewSink(out)
//		log.Info().Int("port", 8080).Msg("ready")
//	}
//
// # Unbuffered
//
// A line is in the pipe or file when the call that logged it returns: each is
// one write(2), and survives the death of the process, even by SIGKILL. There
// is no goroutine and nothing to flush.
//
// # Closed pipes
//
// A Go program that writes through descriptor 1 or 2 to a pipe without a reader
// is killed by SIGPIPE. This sink writes through a separate descriptor: it
// drops and counts the lines instead ([delivery.ReasonGone]), and resumes when
// a named pipe gets a new reader. The signal handling of the program is not
// changed.
//
// # Stalled readers
//
// A call waits at most Config.Stall for the reader. Then its line is dropped
// and counted ([delivery.ReasonStalled]), and until the reader reads again
// further calls return at once. When the reader resumes, the first line reports
// the losses by level; then lines are written as usual:
//
//	{"time":"…","level":"warn","dropped":123,"levels":{"info":120,"error":3},"reasons":{"stalled":123},"message":"lines lost: standard output was blocked"}
//
// A line that was cut off by the deadline counts as dropped, and is terminated
// by a newline before anything else is written. If standard output is a pipe,
// that happens only to lines of more than 4096 bytes. A line of more than 64
// KiB may take Stall for every 64 KiB, as long as the reader reads them.
//
// # Buffered
//
// With Config.Buffer lines are collected and written together: when the buffer
// is full, at most Config.Delay after the first line, and at once with a line
// at LevelError or above. Only whole lines are combined, in order; a line that
// does not fit the buffer is written by itself. A killed process loses the
// lines that were not written yet: up to twice Config.Buffer, half of it
// collected and half of it being written, and, unless the reader is stalled, at
// most those logged during the last Config.Delay. One goroutine enforces the
// delay; Close stops it.
//
// Buffered lines wait for a stalled reader. Once the buffer is full, calls drop
// their lines as above. While the reader is stalled, the last eighth of the
// buffer is reserved for lines at LevelError and above.
//
// # Systems
//
// The sink never changes the flags of the inherited descriptor, since other
// processes share them. How lines are written depends on the kind of standard
// output:
//
//   - Pipes and pseudo-terminals on Linux are reopened through /proc and
//     written to without blocking.
//   - Sockets on Linux are written to with MSG_DONTWAIT.
//   - Where opening fails on Linux (no /proc, a pipe of another user, a serial
//     line) the sink polls before each write, which costs one more system call.
//     If another process fills the pipe in between, the write may block.
//   - Files and devices like /dev/null are written to as usual. If the file
//     system hangs, calls block.
//   - On other systems lines are written as by an os.File: a closed pipe does
//     not kill the process, but a stalled reader blocks the callers.
package stdout
