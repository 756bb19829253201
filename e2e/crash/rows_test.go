// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

// rows are all rows, in the order of the table.
var rows = []row{
	{id: "1", test: "kill -9 at random", method: "SIGKILL 0 to 10 ms after logging has begun, over 1, 8 and 1,000 goroutines, 25 times over each spool",
		pass: "0 lost, torn, duplicates; start < 50 ms"},
	{id: "28", test: "ways to die", method: "return, os.Exit, panic, Fatal, SIGTERM, fatal error of the runtime, out of memory in a cgroup, SIGSTOP then SIGKILL; nothing is closed or flushed",
		pass: "0 lost after each"},
}
