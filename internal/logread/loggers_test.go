// SPDX-License-Identifier: Apache-2.0

package logread_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/layout"
)

// none is the level of a line that has none.
const none = nib.Level(-100)

// A logged is a line of a logger, and what it says.
type logged struct {
	logger, line string
	time         string // RFC 3339, "" for none
	level        nib.Level
	message      string
}

// loggers are the default lines of common loggers. Those with a short time are
// read on the evening of 2026-11-27.
var loggers = []logged{
	{
		"nib",
		`{"time":"2026-11-26T10:00:00Z","level":"error","message":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{"log", "2026/11/26 10:00:00 boom", "2026-11-26T10:00:00Z", none, "boom"},
	{
		"log, all flags",
		"2026/11/26 10:00:00.123456 /src/a.go:12: boom: x",
		"2026-11-26T10:00:00.123456Z", none,
		"boom: x",
	},
	{"log, prefix", "app: 2026/11/26 10:00:00 boom", "2026-11-26T10:00:00Z", none, "boom"},
	{"log, time only", "10:00:00 boom", "2026-11-27T10:00:00Z", none, "boom"},
	{
		"slog, default",
		"2026/11/26 10:00:00 ERROR boom n=1",
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom n=1",
	},
	{
		"slog, text",
		`time=2026-11-26T10:00:00.000Z level=ERROR msg=boom n=1`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"klog",
		`E1126 10:00:00.123456       1 a.go:10] "it failed" err="boom"`,
		"2026-11-26T10:00:00.123456Z", nib.LevelError,
		"it failed",
	},
	{
		"glog",
		`W1126 10:00:00.123456 1234567 a.go:10] boom`,
		"2026-11-26T10:00:00.123456Z", nib.LevelWarn,
		"boom",
	},
	{
		"klog, last year",
		`I1226 10:00:00.123456       1 a.go:10] boom`,
		"2025-12-26T10:00:00.123456Z", nib.LevelInfo,
		"boom",
	},
	{
		"hclog",
		`2026-11-26T10:00:00.000Z [ERROR] vault: boom: n=1`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"vault: boom: n=1",
	},
	{
		"hclog, JSON",
		`{"@level":"error","@message":"boom","@timestamp":"2026-11-26T10:00:00.000000Z"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"logr, stdr",
		`2026/11/26 10:00:00 a.go:10: "level"=0 "msg"="boom" "n"=1`,
		"2026-11-26T10:00:00Z", nib.LevelInfo,
		"boom",
	},
	{
		"logr, error",
		`2026/11/26 10:00:00 "msg"="it failed" "error"="boom"`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"it failed",
	},
	{
		"logr, name",
		`2026/11/26 10:00:00 api/pay: "level"=0 "msg"="boom" "n"=1`,
		"2026-11-26T10:00:00Z", nib.LevelInfo,
		"boom",
	},
	{
		"logr, name and error",
		`2026/11/26 10:00:00 a.go:10: api: "msg"="it failed: \"level\"=1" "error"="boom"`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		`it failed: \"level\"=1`,
	},
	{"logr, no time", `"level"=1 "msg"="boom" "n"=1`, "", nib.LevelDebug, "boom"},
	{
		"logr, no fields",
		`2026/11/26 10:00:00 api: "message": boom`,
		"2026-11-26T10:00:00Z", none,
		`api: "message": boom`,
	},
	{
		"logr, JSON",
		`{"logger":"","ts":"2026-11-26 10:00:00.250000","level":0,"msg":"boom","n":1}`,
		"2026-11-26T10:00:00.25Z", nib.LevelInfo,
		"boom",
	},
	{
		"logr, JSON, error",
		`{"logger":"api","ts":"2026-11-26 10:00:00.250000","msg":"it failed","error":null}`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"it failed",
	},
	{
		"zerolog",
		`{"level":"error","time":1795687200,"message":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"zerolog, console",
		`10:00AM ERR boom n=1`,
		"2026-11-27T10:00:00Z", nib.LevelError,
		"boom n=1",
	},
	{
		"zerolog, colours",
		"\x1b[90m10:00AM\x1b[0m \x1b[31mERR\x1b[0m boom",
		"2026-11-27T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"zap",
		`{"level":"error","ts":1.7956872e+09,"msg":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"zap, console",
		"2026-11-26T10:00:00.000Z\tERROR\ta/b.go:10\tboom\t{\"n\": 1}",
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"logrus",
		`time="2026-11-26T10:00:00Z" level=error msg=boom`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{"logrus, terminal", `ERRO[0001] boom`, "", nib.LevelError, "boom"},
	{
		"logrus, colours",
		"\x1b[31mFATA\x1b[0m[2026-11-26T10:00:00Z] boom",
		"2026-11-26T10:00:00Z", nib.LevelFatal,
		"boom",
	},
	{
		"tracing, colours",
		"\x1b[2m2026-11-26T10:00:00.000000Z\x1b[0m \x1b[31mERROR\x1b[0m boom",
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"zap, colours",
		"2026-11-26T10:00:00.000Z\t\x1b[31mERROR\x1b[0m\ta/b.go:10\tboom\t{\"n\": 1}",
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"structlog, colours",
		"\x1b[2m2026-11-26 10:00:00\x1b[0m [\x1b[31m\x1b[1merror    \x1b[0m] boom",
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{"logrus, terminal", `INFO[0001] boom`, "", nib.LevelInfo, "boom"},
	{
		"tracing",
		`2026-11-26T10:00:00.000000Z ERROR shop::api: boom n=1`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom n=1",
	},
	{
		"tracing, JSON",
		`{"timestamp":"2026-11-26T10:00:00.000000Z","level":"ERROR","fields":{"message":"` +
			`boom","n":1},"target":"shop"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"env_logger",
		`[2026-11-26T10:00:00Z ERROR shop] boom`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"structlog",
		`2026-11-26 10:00:00 [error    ] boom  n=1`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom  n=1",
	},
	{
		"structlog, JSON",
		`{"event":"boom","level":"error","timestamp":"2026-11-26T10:00:00Z"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{"logging", `ERROR:root:boom: x`, "", nib.LevelError, "boom: x"},
	{
		"logging, asctime",
		`2026-11-26 10:00:00,250 - shop.api - ERROR - boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"python-json-logger",
		`{"asctime":"2026-11-26 10:00:00,250","levelname":"ERROR","message":"boom"}`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"log4j",
		`2026-11-26 10:00:00,250 [main] ERROR com.shop.API - boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"log4j, JSON",
		`{"instant":{"epochSecond":1795687200,"nanoOfSecond":250000000},"thread":"main","` +
			`level":"ERROR","message":"boom"}`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"logback",
		`10:00:00.250 [main] ERROR com.shop.API -- boom`,
		"2026-11-27T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"Spring",
		`2026-11-26T10:00:00.250Z ERROR 1 --- [main] c.s.API  : boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"pino",
		`{"level":50,"time":1795687200000,"pid":1,"msg":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"bunyan",
		`{"name":"a","level":50,"msg":"boom","time":"2026-11-26T10:00:00.000Z","v":0}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"Serilog",
		`{"@t":"2026-11-26T10:00:00.000Z","@mt":"boom {N} of {Name:l} {Gone}","@l":"Error` +
			`","N":2,"Name":"a\"b"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		`boom 2 of a"b {Gone}`,
	},
	{
		"Serilog, info",
		`{"@t":"2026-11-26T10:00:00.000Z","@m":"ok","@mt":"{X}"}`,
		"2026-11-26T10:00:00Z", nib.LevelInfo,
		"ok",
	},
	{"Serilog, console", `[10:00:00 ERR] boom`, "2026-11-27T10:00:00Z", nib.LevelError, "boom"},
	{".NET", `fail: Shop.API[14] boom`, "", nib.LevelError, "Shop.API[14] boom"},
	{
		"NLog",
		`2026-11-26 10:00:00.2500|ERROR|Shop|boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"Shop|boom",
	},
	{
		"ECS",
		`{"@timestamp":"2026-11-26T10:00:00Z","log.level":"error","message":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"ECS, nested",
		`{"@timestamp":"2026-11-26T10:00:00Z","log":{"level":"error"},"message":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"OTLP",
		`{"timeUnixNano":"1795687200000000000","severityNumber":17,"severityText":"ERROR"` +
			`,"body":{"stringValue":"boom"}}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"OpenTelemetry, second name of a level",
		`{"Timestamp":"2026-11-26T10:00:00Z","SeverityText":"INFO3","Body":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelInfo + 2,
		"boom",
	},
	{
		"OpenTelemetry, last name of a level",
		`{"Timestamp":"2026-11-26T10:00:00Z","SeverityText":"FATAL4","Body":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelFatal,
		"boom",
	},
	{
		"nginx",
		`127.0.0.1 - - [26/Nov/2026:11:00:00 +0100] "GET / HTTP/1.1" 200 612`,
		"2026-11-26T10:00:00Z", none,
		`127.0.0.1 - - [26/Nov/2026:11:00:00 +0100] "GET / HTTP/1.1" 200 612`,
	},
	{
		"Envoy",
		`[2026-11-26T10:00:00.250Z] "GET / HTTP/1.1" 200 - "-" "10.0.0.1:80"`,
		"2026-11-26T10:00:00.25Z", none,
		`"GET / HTTP/1.1" 200 - "-" "10.0.0.1:80"`,
	},
	{
		"nginx, JSON",
		`{"time":"26/Nov/2026:11:00:00 +0100","status":"200"}`,
		"2026-11-26T10:00:00Z", none,
		"",
	},
	{
		"a status and a time that are fields",
		`{"status":"error","time":"11:00:00","msg":"boom","level":"info","ts":1795687200}`,
		"2026-11-26T10:00:00Z", nib.LevelInfo,
		"boom",
	},
	{"a status", `{"status":"error","msg":"boom"}`, "", nib.LevelError, "boom"},
	{
		"Ruby, JSON",
		`{"severity":"ERROR","time":"2026-11-26 10:00:00 UTC","message":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"MongoDB",
		`{"t":{"$date":"2026-11-26T11:00:00.250+01:00"},"s":"E",  "c":"STORAGE",  "id":1,"msg":"boom"}`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"MongoDB, debug",
		`{"t":{"$date":"2026-11-26T10:00:00.250Z"},"s":"D2", "c":"STORAGE",  "id":1,"msg":"boom"}`,
		"2026-11-26T10:00:00.25Z", nib.LevelDebug,
		"boom",
	},
	{
		"werkzeug",
		`127.0.0.1 - - [26/Nov/2026 10:00:00] "GET / HTTP/1.1" 200 -`,
		"2026-11-26T10:00:00Z", none,
		`127.0.0.1 - - [26/Nov/2026 10:00:00] "GET / HTTP/1.1" 200 -`,
	},
	{
		"Django",
		`[26/Nov/2026 10:00:00] "GET / HTTP/1.1" 200 612`,
		"2026-11-26T10:00:00Z", none,
		`"GET / HTTP/1.1" 200 612`,
	},
	{
		"java.util.logging, first line",
		`Nov 26, 2026 10:00:00 AM com.shop.API main`,
		"2026-11-26T10:00:00Z", none,
		`com.shop.API main`,
	},
	{
		"java.util.logging, first line",
		`Nov 26, 2026 1:00:00 PM com.shop.API main`,
		"2026-11-26T13:00:00Z", none,
		`com.shop.API main`,
	},
	{
		"java.util.logging, no hour",
		`Nov 26, 2026 0:00:00 PM com.shop.API main`,
		"", none,
		`Nov 26, 2026 0:00:00 PM com.shop.API main`,
	},
	{
		"java.util.logging, joined",
		`Nov 26, 2026 1:00:00 PM com.shop.API main SEVERE: boom - x`,
		"2026-11-26T13:00:00Z", nib.LevelError,
		`boom - x`,
	},
	{
		"java.util.logging, joined, no method",
		`Nov 26, 2026 1:00:00 AM com.shop.API FINEST: boom`,
		"2026-11-26T01:00:00Z", nib.LevelTrace,
		`boom`,
	},
	{
		"java.util.logging, no level",
		`Nov 26, 2026 1:00:00 PM com.shop.API main it is INFO: boom`,
		"2026-11-26T13:00:00Z", none,
		`com.shop.API main it is INFO: boom`,
	},
	{"java.util.logging, second line", `SEVERE: boom`, "", nib.LevelError, `boom`},
	{
		"Tomcat",
		`26-Nov-2026 10:00:00.250 SEVERE [main] org.shop.API.start boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		`[main] org.shop.API.start boom`,
	},
	{
		"Tomcat, fine",
		`26-Nov-2026 10:00:00.250 FINE [main] org.shop.API.start boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelDebug,
		`[main] org.shop.API.start boom`,
	},
	{
		"Tomcat, finest",
		`26-Nov-2026 10:00:00.250 FINEST [main] org.shop.API.start boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelTrace,
		`[main] org.shop.API.start boom`,
	},
	{
		"Tomcat, configuration",
		`26-Nov-2026 10:00:00.250 CONFIG [main] org.shop.API.start boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelDebug,
		`[main] org.shop.API.start boom`,
	},
	{"java.util.logging as JSON", `{"level":"FINER","message":"boom"}`, "", nib.LevelTrace, `boom`},
	{
		"Redis",
		`1:M 26 Nov 2026 10:00:00.250 # boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelWarn,
		`boom`,
	},
	{
		"Redis, verbose",
		`1:M 26 Nov 2026 10:00:00.250 - Accepted 127.0.0.1:5000`,
		"2026-11-26T10:00:00.25Z", nib.LevelInfo,
		`Accepted 127.0.0.1:5000`,
	},
	{"Redis, no text", `1:M 26 Nov 2026 10:00:00.250`, "", none, `1:M 26 Nov 2026 10:00:00.250`},
	{
		"Redis, notice",
		`1234:C 26 Nov 2026 10:00:00.250 * boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelInfo + 2,
		`boom`,
	},
	{
		"nginx, errors",
		`2026/11/26 10:00:00 [error] 1#1: *1 boom`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"1#1: *1 boom",
	},
	{
		"PostgreSQL",
		`2026-11-26 10:00:00.250 UTC [1] ERROR:  boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"PostgreSQL of Debian",
		`2026-11-26 10:00:00.250 UTC [1] user@shop ERROR:  boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"PostgreSQL, fields",
		`2026-11-26 10:00:00 UTC [1]: [5-1] user=u,db=d,app=[unknown],client=10.0.0.1 FATAL:  boom`,
		"2026-11-26T10:00:00Z", nib.LevelFatal,
		"boom",
	},
	{
		"Elixir",
		`10:00:00.250 request_id=FxZk [error] boom`,
		"2026-11-27T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"Monolog",
		`[2026-11-26T10:00:00.250000+00:00] app.ERROR: boom {"n":1} []`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		`boom {"n":1} []`,
	},
	{
		"Monolog, JSON",
		`{"message":"boom","level":400,"level_name":"ERROR","channel":"app","datetime":"` +
			`2026-11-26T10:00:00.250000+00:00","extra":{}}`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"Celery",
		`[2026-11-26 10:00:00,250: ERROR/ForkPoolWorker-1] boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"Ruby",
		`E, [2026-11-26T10:00:00.250000 #1] ERROR -- : boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"Apache, errors",
		`[Thu Nov 26 10:00:00.250000 2026] [core:error] [pid 1:tid 2] AH00126: boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"[pid 1:tid 2] AH00126: boom",
	},
	{
		"Apache 2.2, errors",
		`[Thu Nov 26 10:00:00 2026] [error] [client 10.0.0.1] boom`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"[client 10.0.0.1] boom",
	},
	{
		"Apache, no module",
		`[Thu Nov 26 10:00:00.250000 2026] [:error] [pid 1] boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"[pid 1] boom",
	},
	{
		"Fluent Bit",
		`[2026/11/26 10:00:00.250000000] [ warn] [output:es:0] boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelWarn,
		"[output:es:0] boom",
	},
	{
		"ctime, no year",
		`Thu Nov 26 10:00:00 boom`,
		"", none,
		"Thu Nov 26 10:00:00 boom",
	},
	{
		"logging, colons",
		`2026-11-26 10:00:00,250:ERROR:boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"PostgreSQL, zone",
		`2026-11-26 11:00:00.250 CET [1] user@shop ERROR:  boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"PostgreSQL, unclear zone",
		`2026-11-26 10:00:00.250 IST [1] ERROR:  boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{
		"PHP",
		`[26-Nov-2026 05:00:00 America/New_York] PHP Warning:  boom`,
		"2026-11-26T10:00:00Z", nib.LevelWarn,
		"PHP Warning:  boom",
	},
	{
		"PHP, UTC",
		`[26-Nov-2026 10:00:00 UTC] PHP Fatal error:  boom`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"PHP Fatal error:  boom",
	},
	{
		"Cassandra",
		`ERROR [Native-Transport-Requests 1] 2026-11-26 10:00:00,250 Message.java:10 - boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom",
	},
	{"level, brackets", `ERROR [main] 2 of 3 failed`, "", nib.LevelError, "[main] 2 of 3 failed"},
	{"systemd", `<3>it is on fire`, "", nib.LevelError, "it is on fire"},
	{"kernel", `<4>[    0.250000] Linux version 6`, "", nib.LevelWarn, "[    0.250000] Linux version 6"},
	{"no priority", `<3> are left`, "", none, "<3> are left"},
	{
		"log4j, fields",
		`2026-11-26 10:00:00,250 [main] ERROR com.shop.API - boom {"message":"x","status":"ok"}`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		`boom {"message":"x","status":"ok"}`,
	},
	{
		"klog, cut",
		`E1126 10:00:00.250000       1 a.go:10] "it fai`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		`"it fai`,
	},
	{
		"klog, fields",
		`E1126 10:00:00.250000       1 a.go:10] boom: {"level":"info","a":1} {"b":2}`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		`boom: {"level":"info","a":1} {"b":2}`,
	},
	{
		"log, fields",
		`2026/11/26 10:00:00 it failed {"message":"x","status":"error"}`,
		"2026-11-26T10:00:00Z", none,
		`it failed {"message":"x","status":"error"}`,
	},
	{"logging, JSON", `ERROR: {"message":"boom"}`, "", nib.LevelError, "boom"},
	{
		"MySQL",
		`2026-11-26T10:00:00.250000Z 0 [Note] [MY-010747] [Server] boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelInfo,
		"[MY-010747] [Server] boom",
	},
	{
		"MySQL, system",
		`2026-11-26T10:00:00.250000Z 0 [System] [MY-010931] [Server] boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelInfo,
		"[MY-010931] [Server] boom",
	},
	{
		"loguru, success",
		`2026-11-26 10:00:00.250 | SUCCESS  | shop.api:main:12 - boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelInfo + 2,
		"boom",
	},
	{
		"a name with a dot",
		`Nov 26 10:00:00 h daemon.api app[1]: boom`,
		"2026-11-26T10:00:00Z", none,
		"h daemon.api app[1]: boom",
	},
	{
		"journalctl, full",
		`Thu 2026-11-26 10:00:00 UTC h app[1]: boom`,
		"2026-11-26T10:00:00Z", none,
		"boom",
	},
	{
		"a word of MySQL",
		`2026/11/26 10:00:00 Note: boom`,
		"2026-11-26T10:00:00Z", none,
		"Note: boom",
	},
	{
		"a status that is a word",
		`{"time":"2026-11-26T10:00:00Z","status":"success","message":"boom"}`,
		"2026-11-26T10:00:00Z", none,
		"boom",
	},
	{
		"a word of java.util.logging",
		`2026/11/26 10:00:00 config: boom`,
		"2026-11-26T10:00:00Z", none,
		"config: boom",
	},
	{
		"a word of PostgreSQL",
		`2026-11-26 10:00:00 [log] Fine: boom`,
		"2026-11-26T10:00:00Z", none,
		"[log] Fine: boom",
	},
	{
		"a name before a colon",
		`2026-11-26 10:00:00 shop.Orders: boom`,
		"2026-11-26T10:00:00Z", none,
		"shop.Orders: boom",
	},
	{
		"log, brackets",
		`[app] 2026/11/26 10:00:00 boom`,
		"2026-11-26T10:00:00Z", none,
		`boom`,
	},
	{
		"log, two words",
		`my app: 2026/11/26 10:00:00 boom`,
		"2026-11-26T10:00:00Z", none,
		`boom`,
	},
	{
		"log, no prefix",
		`made from 2026/11/26 10:00:00 boom`,
		"", none,
		`made from 2026/11/26 10:00:00 boom`,
	},
	{
		"slog, offset",
		`2026/11/26 10:00:00 WARN+2 boom`,
		"2026-11-26T10:00:00Z", nib.LevelWarn + 2,
		`boom`,
	},
	{
		"klog, no month",
		`E0026 10:00:00.123456       1 a.go:10] boom`,
		"", none,
		`E0026 10:00:00.123456       1 a.go:10] boom`,
	},
	{
		"zap, console, name",
		"2026-11-26T10:00:00.000Z\tERROR\tapi.pay\ta/b.go:10\tit failed\t{\"n\": 1}",
		"2026-11-26T10:00:00Z", nib.LevelError,
		"it failed",
	},
	{
		"zap, console, production",
		"1.7956872e+09\terror\ta/b.go:10\tboom\t{\"n\": 1}",
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"logrus, terminal",
		`ERROR[2026-11-26T10:00:00Z] boom`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"log15",
		`EROR[11-26|10:00:00] boom n=1`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom n=1",
	},
	{
		"log15, logfmt",
		`t=2026-11-26T10:00:00+0000 lvl=eror msg=boom n=1`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		"boom",
	},
	{
		"geth",
		`ERROR[11-26|10:00:00.250] boom n=1`,
		"2026-11-26T10:00:00.25Z", nib.LevelError,
		"boom n=1",
	},
	{
		"gin",
		`[GIN] 2026/11/26 - 10:00:00 | 500 | 1ms | 127.0.0.1 | GET "/ping"`,
		"2026-11-26T10:00:00Z", none,
		`500 | 1ms | 127.0.0.1 | GET "/ping"`,
	},
	{
		"Serilog, JsonFormatter",
		`{"Timestamp":"2026-11-26T10:00:00.0000000+00:00","Level":"Error",` +
			`"MessageTemplate":"boom {N} {{}}","Properties":{"N":2}}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		`boom 2 {}`,
	},
	{
		"Serilog, rendered",
		`{"Timestamp":"2026-11-26T10:00:00Z","Level":"Error","MessageTemplate":"{N}",` +
			`"RenderedMessage":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		`boom`,
	},
	{
		".NET, JSON",
		`{"Timestamp":"2026-11-26 10:00:00Z ","EventId":14,"LogLevel":"Error",` +
			`"Category":"Shop.API","Message":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		`boom`,
	},
	{
		"OTLP, number only",
		`{"observedTimeUnixNano":"1795687200000000000","severityNumber":17,` +
			`"body":{"stringValue":"boom"}}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		`boom`,
	},
	{
		"OTLP, both times",
		`{"observedTimeUnixNano":"1","timeUnixNano":"1795687200000000000",` +
			`"severityNumber":21,"severityText":"error","body":{"stringValue":"boom"}}`,
		"2026-11-26T10:00:00Z", nib.LevelError,
		`boom`,
	},
	{
		"PostgreSQL, log",
		`2026-11-26 10:00:00.250 UTC [1] LOG:  boom`,
		"2026-11-26T10:00:00.25Z", nib.LevelInfo,
		`boom`,
	},
	{"no date", `2026/02/30 10:00:00 boom`, "", none, "2026/02/30 10:00:00 boom"},
	{"no date", `2026-02-30 10:00:00 boom`, "", none, "2026-02-30 10:00:00 boom"},
	{"zone", `2026-11-26T11:00:00+01 WARN boom`, "2026-11-26T10:00:00Z", nib.LevelWarn, "boom"},
	{
		"prose",
		`backup from 2026-11-26 10:00:00 has an error: none`,
		"", none,
		`backup from 2026-11-26 10:00:00 has an error: none`,
	},
	{
		"prose",
		`2026-11-26 10:00:00 cannot read the ERROR file`,
		"2026-11-26T10:00:00Z", none,
		`cannot read the ERROR file`,
	},
}

var evening = time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)

// record returns the time, level and message of a line as text.
func record(l *logread.Line, text string) string {
	l.SetNow(evening)
	l.Reset([]byte(text))
	level, ok := l.Level()
	if !ok {
		level = none
	}
	message := l.Text(l.Message())
	at := ""
	if t, ok := l.Time(); ok {
		at = t.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%s %v %q", at, level, message)
}

func (c logged) want() string { return fmt.Sprintf("%s %v %q", c.time, c.level, c.message) }

func TestLinesOfCommonLoggers(t *testing.T) {
	l := new(logread.Line)
	for _, c := range loggers {
		if got := record(l, c.line); got != c.want() {
			t.Errorf("%s: %s\n got %s\nwant %s", c.logger, c.line, got, c.want())
		}
	}
}

// A level that nib writes, as any layout names it or as a severity of syslog
// and the journal, is read as a level of the same severity. OpenTelemetry has
// the names FATAL to FATAL4 for panic, too.
func TestLevelsThatNibWrites(t *testing.T) {
	read := new(logread.Line)
	for name, layout := range map[string]nib.Layout{
		"nib": {}, "ECS": layout.ECS(), "GCP": layout.GCP(), "Datadog": layout.Datadog(),
		"Zap": layout.Zap(), "Zerolog": layout.Zerolog(), "Slog": layout.Slog(), "Logrus": layout.Logrus(),
	} {
		var out bytes.Buffer
		l := nib.New(&out, nib.WithLayout(layout), nib.WithLevel(nib.LevelTrace))
		for want := nib.LevelTrace; want <= nib.LevelFatal; want++ {
			out.Reset()
			l.At(want).Msg("m")
			severity := level.Severity(int(want))
			for _, line := range []string{
				out.String(), fmt.Sprintf(`{"PRIORITY":"%d","MESSAGE":"m"}`, severity),
				fmt.Sprintf("<%d>1 2026-11-26T10:00:00Z host app 7 - - m", 8+severity),
			} {
				read.Reset([]byte(line))
				if got, ok := read.Level(); !ok || level.Severity(int(got)) != severity {
					t.Errorf("%s: %v is read as %v, %v: %s", name, want, got, ok, line)
				}
			}
		}
	}
}

// Package log itself writes the lines, with all its flags.
func TestLinesOfPackageLog(t *testing.T) {
	var out bytes.Buffer
	l := new(logread.Line)
	for flags := range log.Lmsgprefix << 1 {
		for _, prefix := range []string{"", "app: "} {
			out.Reset()
			before := time.Now().Add(-time.Second)
			log.New(&out, prefix, flags|log.LUTC).Print("boom")
			l.Reset(out.Bytes())
			at, hasTime := l.Time()
			hasClock := flags&(log.Ltime|log.Lmicroseconds) != 0
			isTimed := flags&log.Ldate != 0 && hasClock
			message := string(l.Message())
			if hasTime != isTimed && !hasClock ||
				isTimed && (at.Before(before) || at.After(time.Now())) ||
				!strings.HasSuffix(message, "boom") || isTimed && len(message) > len("app: boom") {
				t.Errorf("flags %b: got %v, %v, %q of %q", flags, at, hasTime, message, &out)
			}
		}
	}
}
