module example.com/versions

go 1.13
