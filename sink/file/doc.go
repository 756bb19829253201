// SPDX-License-Identifier: Apache-2.0

// Package file appends lines to a log file and rotates it by size, by time, or
// on request. It is a sink, and a destination of sink/spool.
//
//	f, err := file.Open("/var/log/app/app.log", file.Config{
//		MaxSize:    100 << 20,
//		MaxBackups: 7,
//		Compress:   file.Gzip(0),
//	})
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	log := nib.NewSink(f)
//
// # Unbuffered
//
// A line is in the file when the call that logged it returns: each is one
// write(2), and survives the death of the process, even by SIGKILL. There is no
// goroutine and nothing to flush. [Config.Sync] limits the loss in a power
// failure.
//
// # Buffered
//
// With Config.Buffer lines are collected and written together: when the buffer
// is full, at most Config.Delay after the first line, at once with a line at
// LevelError or above, and by Flush, Rotate, Reopen and Close. Only whole lines
// are combined, in order. A killed process loses the lines that were not
// written yet: up to twice Config.Buffer, half of it collected and half of it
// being written, and at most those logged during the last Config.Delay.
//
// # Rotation
//
// Rotation renames app.log to
//
//	app-20261121T103000.123456Z-0000.log
//
// with the time in UTC and a number that distinguishes files of the same
// microsecond, and creates a new app.log. Rotation never renames a file over
// another one and never splits a line. Old files are deleted only when a limit
// requires it, and only if their names have exactly this form. Links are not
// followed.
//
// # Behind a spool
//
// Deliver syncs lines to disk before it accepts them. The spool stores with
// them the position where the file ended (Mark). After a crash Resume compares
// the bytes after that position with the unsettled records: no record is
// written twice, even if it has several lines, as with sink/console. A line
// that the crash has cut off is completed. Rotation waits until the spool has
// stored the position.
//
// Resume cannot determine which lines were delivered if the file was changed,
// compressed or deleted before it looked, or if a sync failed, after which the
// contents of the disk are unknown. Sinks behind spools take turns to write, by
// a lock on the file .app.log.claims, and record there which part of the log
// each has written, so that Resume does not mistake a line of another process
// for a line of a dead process. A line of a process without a spool may be
// mistaken if all of its bytes are the same.
//
// # Other processes
//
// Several processes may log to one path and rotate it concurrently. Each holds
// a shared flock(2) on the file that it writes to. They take turns to rotate by
// a lock on the file .app.log.lock, mode 0600, which stays next to the log, and
// no process deletes or compresses a file while another process writes to it.
// On file systems without such locks, and on Windows, only one process should
// log to a path.
//
// Before writing, at most ten times a second, the sink checks whether the path
// still refers to its file. If the file was renamed or removed, lines go to the
// file that has the name now, or to a new one. If the file was truncated, as by
// logrotate's copytruncate, writing continues at its new end.
//
// # Write errors
//
// A failed write is retried once, in the reopened file unless the disk is full.
// A line that cannot be written is dropped and counted, by level and
// [delivery.Reason], and the call returns the error. Writing is retried after a
// pause of at most a quarter of a second. The first line after a loss reports
// it:
//
//	{"time":"…","level":"warn","dropped":123,"levels":{"info":120,"error":3},"reasons":{"full":123},"message":"lines lost: no space was left for the log file"}
//
// A partially written line counts as dropped, and is terminated by a newline
// before anything else is written. So is a partial line that a dead process has
// left. If rotation fails, lines go to the old file. If the file system hangs,
// calls block.
package file

// To read the source, follow a line to its file first:
//
//	config.go       Config
//	sink.go         a Sink: WriteRecord, its fast path, and the other methods
//	write.go        a writer: the slow path of a line
//	check.go        what is checked ten times a second
//	live.go         the open file: write, sync, its end
//	open.go         opening it, and who may own it
//	location.go     its path, and the lock for rotations
//	errors.go       the state after a failed write; reports to OnError
//	buffer.go       lines that wait in the buffer
//
// Then rotation.go, name.go, retention.go and compress.go: old files. A
// delivery from a spool is separate: destination.go, deliver.go, mend.go (the
// end that a dead process has left), resume.go, and package mark.
