// SPDX-License-Identifier: Apache-2.0

// Package otlp delivers lines from a spool to an OpenTelemetry receiver using
// OTLP/HTTP: the Collector, Loki, VictoriaLogs and many services.
//
//	out, err := otlp.New("http://collector:4318/v1/logs", otlp.Config{
//		Resource: map[string]string{"service.name": "orders"},
//	})
//	if err != nil {
//		return err
//	}
//	defer out.Close()
//	s, err := spool.Open("/var/spool/app", out, spool.Config{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	log := nib.NewSink(s)
//
// A line becomes a LogRecord: the time, the severity and its text, the message
// as the body, and the remaining fields as attributes with their types. The
// name of the logger is the scope. The fields trace_id, span_id and trace_flags
// become fields of the record, event.name its event name. Equal keys stay as
// they are in the line.
//
// # Repeated records
//
// OTLP has no means to recognize a request that is sent twice, so a request
// whose response is lost, because the process, the connection or the receiver
// died, is delivered again. Every record has the attribute log.record.uid, with
// which readers can drop repeated records. Nothing is lost.
//
// docs/otlp.md describes what happens in each case of failure.
package otlp
