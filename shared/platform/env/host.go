package env

import "slices"

// Hosts are the hosts that answer requests. Each is the function functions/{host}/lambda.
var Hosts = []string{"api", "upload", "content", "app", "mcp"}

// Pages is the function that answers below PagesPath at the content origin, and below OwnPagesPath at the origins of
// artifacts. At both the path without the slash at its end is the function's, too.
const (
	Pages        = "render"
	PagesPath    = "/r/"
	OwnPagesPath = "/.vitrine/r/"
)

// Scheduled are the functions that a schedule starts.
var Scheduled = []string{"jobs", "bundle"}

// Functions are all deployed functions.
var Functions = slices.Concat(Hosts, []string{Pages}, Scheduled)
