package env

import "slices"

// Hosts are the hosts that answer requests. Each is a function functions/{host}/lambda.
var Hosts = []string{"api", "upload", "content", "app", "mcp"}

// Scheduled are the functions that a schedule starts.
var Scheduled = []string{"jobs", "bundle"}

// Functions are all deployed functions.
var Functions = slices.Concat(Hosts, Scheduled)
