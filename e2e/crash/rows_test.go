// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

// rows are all rows, in the order of the table.
var rows = []row{
	{id: "1", test: "kill -9 at random", method: "SIGKILL 0 to 10 ms after logging has begun, over 1, 8 and 1,000 goroutines, 25 times over each spool",
		pass: "0 lost, torn, duplicates; start < 50 ms"},
	{id: "2", test: "kill at each statement", method: "a breakpoint at the beginning of any statement of sink/spool and sink/file, set in the child's memory before it starts or while it logs, delivers, rotates and closes; SIGTRAP ends it at once",
		pass: "0 lost, torn, duplicates"},
	{id: "3", test: "kill at the n-th system call", method: "strace injects SIGKILL at the n-th call of each of 17 system calls, n = 1, 2, … until the child comes to its end",
		pass: "0 lost, torn, duplicates"},
	{id: "4", test: "power cut", method: "ext4 on a loop device, EXT4_IOC_SHUTDOWN while 8 goroutines log, half of the time with the log on the same disk; another boot id at each start",
		pass: "0 lost of what Sync had returned for; every start succeeds; nothing wrong accepted"},
	{id: "7", test: "disk full", method: "a tmpfs of 4 MiB and an ext4 are filled by the spool, by someone else, below the log; the spool reaches its size; then there is room again",
		pass: "no death, 0 lost, refused = counted, told in the log, lines taken again < 1 s"},
	{id: "8", test: "faults of the disk", method: "strace injects EIO, and ENOSPC for what allocates, into the n-th call and into all from the n-th on; the next process has a sound disk",
		pass: "no death, 0 lost, counted, told at most once for each reason, < 5 % CPU; duplicates only where a sync failed"},
	{id: "9", test: "files taken away", method: "segments truncated and removed, the directory removed, the log removed, while a service logs",
		pass: "no death, at most a segment affected, counted"},
	{id: "10", test: "rights taken away", method: "chattr +i, chmod 000 for uid 65534, start on a read-only file system, errors=remount-ro triggered in the kernel",
		pass: "no death, refused = counted, lines taken again < 1 s after it is mended"},
	{id: "11", test: "no descriptors", method: "prlimit --nofile=4 on a service", pass: "0 lost, refused = counted, lines taken again < 1 s"},
	{id: "12", test: "destination down for an hour", method: "virtual clock; a spool with enough room, and one of 512 KiB with rules by level",
		pass: "all delivered in order afterwards; drops exact by level and reason; no spin"},
	{id: "13", test: "destination flaps", method: "200 times up and down: refuses, breaks off, takes a part, hangs, panics, overwrites",
		pass: "0 lost, duplicates, out of order"},
	{id: "14", test: "slow destination", method: "10 KB/s beside a fast one, taking turns, 99th percentile of the best round",
		pass: "ratio ≤ 1.2, memory flat"},
	{id: "20", test: "clock jumps", method: "the logger's clock jumps by seconds, hours and centuries, stands still and changes its zone, under 8 goroutines",
		pass: "0 lost, order by number"},
	{id: "21", test: "fork, exec, signals", method: "a service that logs starts 51 programs, gets signals all the time, and becomes another program by exec, while one of the 51 lives on",
		pass: "0 lost; nothing inherited; the spool can be opened"},
	{id: "22", test: "many goroutines", method: "100 lines of up to 4 KB from each, with a garbage collector under pressure, beside the same without a spool",
		pass: "0 lost, order kept, < 64 MiB more"},
	{id: "23", test: "sizes", method: "lines of 0 bytes to 64 MiB, each side of a record head, a sector, a page and a segment, into segments of three sizes",
		pass: "byte for byte, or refused and counted"},
	{id: "29", test: "backlog", method: "a spool that is full when the process starts", pass: "the first line < 5 ms after the start"},
	{id: "30", test: "kill during replay", method: "a backlog is delivered by processes that are killed at random, until it is through",
		pass: "ends; 0 lost, torn, duplicates"},
	{id: "28", test: "ways to die", method: "return, os.Exit, panic, Fatal, SIGTERM, fatal error of the runtime, out of memory in a cgroup, SIGSTOP then SIGKILL; nothing is closed or flushed",
		pass: "0 lost after each"},
}
