package pages

// Connect says how agents are connected to the deployment. Its zero value is for one without an MCP host.
type Connect struct {
	ConnectCommand string // of our own command line
	Clients        []ClientCommands
}

// ClientCommands are what connects one program without our command line.
type ClientCommands struct {
	Name   string
	Add    string
	SignIn string // after Add; empty: Add does it
	Inside bool   // SignIn is typed into the program, not into a shell
}
