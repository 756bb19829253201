// SPDX-License-Identifier: Apache-2.0

// Package file appends to a log file and rotates it: by size, by the clock, or
// when told so. It is a sink, and the destination behind a spool.
//
//	f, err := file.Open("/var/log/app/app.log", file.Config{
//		MaxSize:    100 << 20,
//		MaxBackups: 7,
//		Compress:   file.Gzip{},
//	})
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	log := nib.NewSink(f)
//
// # Unbuffered
//
// A line is in the file when the call that logged it returns, by one write(2):
// killing the process afterwards, with SIGKILL too, does not take it away. There
// is no goroutine and nothing to flush. What a loss of power takes is up to
// Config.Sync.
//
// # Buffered
//
// With Config.Buffer lines are collected and written together: when the buffer
// is full, Config.Delay after its first line at the latest, and at once with a
// line of LevelError or above; by Flush, Rotate, Reopen and Close as well. Only
// whole lines are put together, in order. What a killed process loses is what has
// not been written yet: up to twice Config.Buffer, collected and being written,
// and at most what was logged during the last Config.Delay.
//
// # Rotation
//
// Rotation renames app.log to
//
//	app-20261121T103000.123456Z-0000.log
//
// with the time in UTC and a number that tells files of one microsecond apart,
// and makes a new app.log. No file is ever renamed over another one. A line is
// never divided. Old files are deleted only when a limit says so, and only if
// their names are, to the letter, of this form. Links are not followed.
//
// # Behind a spool
//
// Deliver brings lines to the disk before it says that it has them. The spool stores with
// them where the file ended (Mark), and after a crash Resume compares what is behind that
// with the records that are not settled: none comes twice, nor does one of several lines, as
// those of sink/console. A line that the
// crash has cut off is completed. Rotation waits until the spool has stored
// where the file ended.
//
// Resume does not know which lines were delivered if the file was changed,
// compressed or deleted before it looked, or if a sync failed, after which the
// contents of the disk are unknown. Sinks behind spools take turns to write, by a
// lock on the file .app.log.claims, and store there which part of the log is theirs:
// so a line of another one is not taken for the same line of a process that died. A
// line of a process without a spool may be, if all bytes are the same.
//
// # Other processes
//
// Several processes may log to one path, and rotate it at the same time. Each
// holds a shared flock(2) on the file that it writes to. They take turns to
// rotate by a lock on the file .app.log.lock, mode 0600, which stays beside the
// log, and no process deletes or compresses a file while another one writes to it.
// On file systems without such locks, and on Windows, one process should log to
// one path.
//
// Ten times a second, if there is something to write, the sink looks whether the
// name still means its file. If someone has renamed or removed that, lines go to
// the file that has the name now, or to a new one. A file that was cut off, as by
// logrotate's copytruncate, is written to from its new end on.
//
// # Faults
//
// A write that fails is tried once more, in the file opened anew unless the disk
// is full. A line that cannot be written is dropped and counted, by level and
// [delivery.Reason], and the call returns the error. Writing is tried again after a pause of
// at most a quarter of a second. The first line after a loss tells of it:
//
//	{"time":"…","level":"warn","message":"lines lost: no space was left for the log file","dropped":123,"levels":{"info":120,"error":3},"reasons":{"full":123}}
//
// A line that was written in part counts as dropped, and a newline ends it before
// anything else is written. So does one that a program left behind when it died.
// If rotation fails, lines go to the old file. A file system that hangs holds its
// callers.
package file
