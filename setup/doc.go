// SPDX-License-Identifier: Apache-2.0

// Package setup opens the logger of a process, with one call at the beginning
// of main, and flushes it when the process ends.
//
//	func main() {
//		log, err := setup.Open(setup.FromEnv("NIB"))
//		if err != nil {
//			fmt.Fprintln(os.Stderr, err)
//			os.Exit(1)
//		}
//		defer log.Close()
//		log.Info().Msg("started")
//	}
//
// # Configuration
//
// A [Config] is merged from sources, the later ones taking precedence: a
// JSON file ([Load]), the environment ([FromEnv]), the program itself (a
// Config). The error joins an error for each mistake in any of them, with the
// variable, the JSON path or the field.
//
//	NIB_LEVEL=warn,db=debug
//	NIB_FORMAT=ecs
//	NIB_OUTPUT='file:/var/log/app/app.log?max_size=100MB&backups=5,stderr?format=console'
//	NIB_OUTPUT='syslog+tls://logs:6514?facility=local0&spool=/var/spool/app'
//	NIB_OUTPUT='kafka://broker1:9092,broker2:9092/logs?spool=/var/spool/app'
//
// Outputs are targets; see package target. Files, standard streams, the journal
// of systemd and syslog are built in. [Kinds] adds other kinds:
//
//	setup.Open(setup.FromEnv("NIB"), setup.Kinds(kafka.Kind))
//
// A destination behind a network needs a spool: a directory, in which lines
// survive the death of the process until they are delivered, or spool=memory.
//
// Without any source, lines of info and above go to standard output as JSON,
// each written before the call returns; there is no goroutine, and no signal is
// handled.
//
// # Graceful shutdown
//
// [Log.Close], deferred in main, flushes and closes everything that Open has
// opened, within Config.Timeout, and reports to standard error the lines that
// could not be flushed. This happens
//
//   - when main returns;
//   - when the goroutine of main panics: a line with the panic and its stack is
//     written first, and the panic continues with the same value and stack;
//   - on SIGTERM and SIGINT, if an output holds lines back (see
//     Config.Signals): then the process ends by that signal. A second one ends
//     it at once. A program that calls [Log.Context] is notified instead, and
//     returns from main.
//
// Fatal flushes by itself, and so does a goroutine that defers [Log.Guard],
// when it panics. os.Exit, panics on other goroutines and fatal errors of the
// runtime cannot be handled within the process: buffered lines are lost
// (unbuffered ones are already written).
//
// # Crashes
//
// With Config.Crash a second process of the same program, the monitor, waits
// for the text that the runtime writes when it dies ([debug.SetCrashOutput])
// and logs it as one line, in the same format and to the same outputs, with the
// stack and the build. On Linux the dying process cannot end before the line is
// written, so it works for process 1 of a container, too, with which the kernel
// kills the monitor. It is off by default because of its cost: 4.4 MB of
// memory, most of it shared, and the package-level initialization of the
// program, which runs in the monitor as well.
package setup
