module github.com/nib-log/nib/e2e/otlp

go 1.25.0

require (
	github.com/nib-log/nib v0.1.0
	github.com/nib-log/nib/dest/otlp v0.1.0
	github.com/nib-log/nib/e2e v0.0.0
)

require github.com/klauspost/compress v1.20.3 // indirect

replace (
	github.com/nib-log/nib => ../..
	github.com/nib-log/nib/dest/otlp => ../../dest/otlp
	github.com/nib-log/nib/e2e => ..
)
