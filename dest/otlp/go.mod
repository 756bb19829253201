module github.com/nib-log/nib/dest/otlp

go 1.25.0

require (
	github.com/klauspost/compress v1.20.3
	github.com/nib-log/nib v0.1.0
)

replace github.com/nib-log/nib => ../..
