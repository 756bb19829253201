module github.com/nib-log/nib/dest/elastic

go 1.25.0

require github.com/nib-log/nib v0.1.0

replace github.com/nib-log/nib => ../..
