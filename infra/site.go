package main

import (
	"fmt"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// site returns the part of a host name that browsers treat as one site. Hosts of one site can set cookies for each
// other, and requests among them count as same-site.
func site(name string) string {
	if s, err := publicsuffix.EffectiveTLDPlusOne(name); err == nil {
		return s
	}
	return name // the name is a public suffix itself
}

// checkSites refuses a content host on the same site as a host that authenticates people by cookies or tokens, because
// untrusted content would run on that site. A preview whose artifacts share one origin only gets a warning.
func (o *options) checkSites() error {
	content, named := o.Domains["content"]
	if !named {
		return nil
	}
	var beside []string
	for _, other := range []struct{ host, name string }{
		{"app", o.Domains["app"].Name}, {"api", o.Domains["api"].Name},
		{"mcp", o.Domains["mcp"].Name}, {"identity", o.Identity.Domain.Name},
	} {
		if other.name != "" && site(other.name) == site(content.Name) {
			beside = append(beside, fmt.Sprintf("domain-%s (%s)", other.host, other.name))
		}
	}
	if len(beside) == 0 {
		return nil
	}
	problem := fmt.Errorf(
		"domain-content (%s) is one site to browsers with %s, so that published pages could reach what is signed in there: "+
			"give domain-content a name that is not under %s", content.Name, strings.Join(beside, " and "), site(content.Name))
	if o.production() || o.ownOrigins() {
		return problem
	}
	o.Warnings = append(o.Warnings, problem.Error())
	return nil
}
