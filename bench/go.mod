module github.com/nib-log/nib/bench

go 1.26.0

require (
	github.com/bytedance/gopkg v0.1.4
	github.com/bytedance/sonic v1.15.5
	github.com/colega/zeropool v0.0.0-20230505084239-6fb4a4f75381
	github.com/go-logr/stdr v1.2.2
	github.com/goccy/go-json v0.12.0
	github.com/grpc-ecosystem/go-grpc-middleware v1.4.0
	github.com/nib-log/nib v0.1.0
	github.com/phuslu/log v1.0.121
	github.com/rs/zerolog v1.35.1
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/segmentio/encoding v0.5.4
	github.com/sirupsen/logrus v1.10.2
	github.com/valyala/bytebufferpool v1.0.0
	go.opentelemetry.io/contrib/bridges/otelslog v0.21.0
	go.opentelemetry.io/otel v1.47.0
	go.opentelemetry.io/otel/exporters/stdout/stdoutlog v0.23.0
	go.opentelemetry.io/otel/log v1.47.0
	go.opentelemetry.io/otel/log/logtest v0.23.0
	go.opentelemetry.io/otel/sdk/log v1.47.0
	go.opentelemetry.io/otel/trace v1.47.0
	go.uber.org/zap v1.28.0
	go.uber.org/zap/exp v0.3.0
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
	gopkg.in/natefinch/lumberjack.v2 v2.2.1
)

require (
	github.com/bytedance/sonic/loader v0.5.3 // indirect
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/cloudwego/base64x v0.1.6 // indirect
	github.com/fatih/color v1.13.0 // indirect
	github.com/golang/protobuf v1.5.4 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.31.0 // indirect
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	github.com/rs/xid v1.6.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/twitchyliquid64/golang-asm v0.15.1 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel/metric v1.47.0 // indirect
	go.opentelemetry.io/otel/sdk v1.47.0 // indirect
	go.opentelemetry.io/proto/otlp v1.11.1 // indirect
	golang.org/x/arch v0.32.0 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260928230214-8a89bd6388cc // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261026165753-2ffab32bce7e // indirect
)

require (
	github.com/go-logr/logr v1.4.4
	github.com/go-logr/zapr v1.3.0
	github.com/hashicorp/go-hclog v1.6.3
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/nib-log/nib/bridge/nibgrpc v0.1.0
	github.com/nib-log/nib/bridge/nibhclog v0.1.0
	github.com/nib-log/nib/bridge/niblogr v0.1.0
	github.com/nib-log/nib/bridge/niblogrus v0.1.0
	github.com/nib-log/nib/bridge/nibotel v0.1.0
	github.com/nib-log/nib/bridge/nibzap v0.1.0
	go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp v0.23.0
	go.uber.org/multierr v1.11.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/nib-log/nib => ..

replace github.com/nib-log/nib/bridge/niblogrus => ../bridge/niblogrus

replace github.com/nib-log/nib/bridge/nibzap => ../bridge/nibzap

replace github.com/nib-log/nib/bridge/niblogr => ../bridge/niblogr

replace github.com/nib-log/nib/bridge/nibhclog => ../bridge/nibhclog

replace github.com/nib-log/nib/bridge/nibgrpc => ../bridge/nibgrpc

replace github.com/nib-log/nib/bridge/nibotel => ../bridge/nibotel
