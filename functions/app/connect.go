package app

import (
	"vitrine/functions/app/pages"
	"vitrine/shared/platform/manual"
)

// connect returns how pages say that agents are connected.
func (h *Host) connect() (c pages.Connect) {
	if h.Origins.MCP == "" {
		return c
	}
	c.ConnectCommand = manual.Connect(h.Origins.API)
	for _, client := range manual.Clients(h.Origins.MCP) {
		c.Clients = append(c.Clients, pages.ClientCommands(client))
	}
	return c
}
