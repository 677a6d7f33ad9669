package assembly

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/policy"
)

// ReadPolicy makes the policy of the deployment hold, from a file with the logo inside. Without a file the defaults hold.
func (c *Config) ReadPolicy(file string, billing bool) error {
	if file == "" {
		c.setPolicy(policy.Default(billing))
		return nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.Root, file) // beside the binary of the function
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%s: %w", env.PolicyFile, err)
	}
	d := policy.Deployment{Billing: billing}
	for _, origin := range []string{c.Origins.API, c.Origins.Upload, c.Origins.Content, c.Origins.App, c.Origins.MCP} {
		if u, err := url.Parse(origin); err == nil && u.Hostname() != "" {
			d.Hosts = append(d.Hosts, u.Hostname())
		}
	}
	p, err := policy.Read(data, d)
	if err != nil {
		return fmt.Errorf("%s: %w", env.PolicyFile, err)
	}
	c.setPolicy(p)
	return nil
}

// Allowlist returns which people the deployment lets in.
func (c *Config) Allowlist() workspace.Allowlist {
	return workspace.Allowlist{People: c.Policy.SignIn, Contact: c.Policy.Brand.Contact}
}

func (c *Config) setPolicy(p policy.Policy) {
	c.Policy = p
	c.Limits.Tiers = p.Tiers
	if p.ClientDocuments != "" {
		c.NoClientDocuments = p.ClientDocuments == "off"
	}
	c.Policy.ClientDocuments = env.OnOff(!c.NoClientDocuments)
}
