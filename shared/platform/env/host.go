package env

import "slices"

// Hosts are the hosts that answer requests. Each is a function functions/{host}/lambda.
var Hosts = []string{"api", "upload", "content", "app", "mcp"}

// Functions are all deployed functions: the hosts, and the one that a schedule starts.
var Functions = append(slices.Clone(Hosts), "jobs")
