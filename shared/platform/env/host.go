package env

import "slices"

// Hosts answer requests, each by a function functions/{host}/lambda.
var Hosts = []string{"api", "upload", "content", "app"}

// Functions are all that are deployed: also the one that a schedule wakes.
var Functions = append(slices.Clone(Hosts), "jobs")
