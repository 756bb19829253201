// SPDX-License-Identifier: Apache-2.0

// Package stdout writes to the standard output of a service, whatever becomes
// of the reader.
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
// A line is in the pipe or file when the call that logged it returns, by one
// write(2): killing the process afterwards, with SIGKILL too, does not take it
// away. There is no goroutine and nothing to flush.
//
// # A reader that went away
//
// A Go program that writes to a pipe without a reader through descriptor 1 or
// 2 is ended by SIGPIPE. This sink writes through a descriptor of its own. It
// drops and counts the lines instead ([delivery.ReasonGone]), and takes up again when a named
// pipe gets a new reader. How the program handles signals is left as it is.
//
// # A reader that stopped
//
// A call waits at most Config.Stall for the reader. After that its line is
// dropped and counted ([delivery.ReasonStalled]), and as long as nothing is read the calls
// that follow return at once. When the reader goes on, the first line is one
// that says how many were lost, by level; then lines flow again:
//
//	{"time":"…","level":"warn","message":"lines lost: standard output was blocked","dropped":123,"levels":{"info":120,"error":3},"reasons":{"stalled":123}}
//
// A line that was cut off by the deadline counts as dropped, and a newline ends
// it before anything else is written. That happens to lines of more than 4096
// bytes only, if standard output is a pipe. A line of more than 64 KiB may take
// Stall for every 64 KiB, as long as the reader takes them.
//
// # Buffered
//
// With Config.Buffer lines are collected and written together: when the buffer
// is full, Config.Delay after its first line at the latest, and at once with a
// line of LevelError or above. Only whole lines are put together, in order; a
// line that does not fit the buffer is written by itself. What a killed process
// loses is what has not been written yet: up to twice Config.Buffer, collected
// and being written, and without a stalled reader what was logged during the
// last Config.Delay. One goroutine keeps the delay; Close ends it.
//
// Buffered lines wait for a reader that stopped. Once the buffer is full, calls
// drop their lines as above. While the reader is stalled the last eighth of the
// buffer is kept for lines of LevelError and above.
//
// # Systems
//
// The flags of the inherited descriptor are never changed, since other processes
// share them. How lines are written depends on what standard output is:
//
//   - Pipes and pseudo-terminals on Linux are opened once more, through
//     /proc, and written to without blocking.
//   - Sockets on Linux are written to with MSG_DONTWAIT.
//   - Where opening fails on Linux (no /proc, a pipe of another user, a serial
//     line) the sink polls before each write, which costs one more system call.
//     If another process fills the pipe in between, the write may block.
//   - Files and devices like /dev/null are written to as usual. A file system
//     that hangs holds its callers.
//   - On other systems lines are written as by an os.File: a reader that went
//     away does not end the process, one that stopped holds the callers.
package stdout
