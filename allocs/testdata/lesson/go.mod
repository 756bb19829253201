module example.com/lesson

go 1.24
