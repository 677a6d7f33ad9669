// Command lambda runs the MCP host as a Lambda function.
package main

import (
	"vitrine/functions/assembly/function"
	"vitrine/functions/assembly/mcp"
)

func main() {
	function.Main(function.Host{
		Name:     "mcp",
		Rings:    mcp.Rings,
		Settings: mcp.Settings,
		Handler:  mcp.Handler,
	})
}
