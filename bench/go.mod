module github.com/nib-log/nib/bench

go 1.25

require (
	github.com/bytedance/gopkg v0.1.4
	github.com/colega/zeropool v0.0.0-20230505084239-6fb4a4f75381
	github.com/nib-log/nib v0.0.0
	github.com/phuslu/log v1.0.121
	github.com/rs/zerolog v1.35.1
	github.com/sirupsen/logrus v1.10.2
	github.com/valyala/bytebufferpool v1.0.0
	go.uber.org/zap v1.28.0
	go.uber.org/zap/exp v0.3.0
)

require (
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	golang.org/x/sys v0.30.0 // indirect
)

replace github.com/nib-log/nib => ..
