module github.com/nib-log/nib/internal/mutate

go 1.24
