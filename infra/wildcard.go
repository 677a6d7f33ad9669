package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets"
	"golang.org/x/net/publicsuffix"

	"vitrine/shared/platform/env"
)

// The artifacts' origins have domains among those of the hosts: wildcard is that of their gateway, and wildcardEdge
// that of the distribution in front of it. The name of both is *.{domain-content}.
const (
	wildcard     = "wildcard"
	wildcardEdge = "wildcard-edge"
)

var wildcards = []string{wildcard, wildcardEdge}

// labelFront gives the artifacts' origins a REST API of their own, so that no path of an artifact meets a route of the
// shared content host. Its stage writes to the log of that host's gateway.
func (f *function) labelFront(shared awsapigateway.RestApi, log awslogs.LogGroup) {
	if !f.ownOrigins() {
		return
	}
	api := f.restAPI(restGateway{
		id:     "Labels",
		name:   *f.stack.StackName() + "-Labels",
		pages:  env.OwnPagesPath,
		hidden: true,
		log:    log,
	})
	// The stage of the shared host waits for the account's right to write logs.
	api.DeploymentStage().Node().AddDependency(shared.DeploymentStage())
	named := f.Domains[wildcard]
	d := f.restDomain("Labels", api, named)
	target, alias := d.DomainNameAliasDomainName(), awsroute53.IAliasRecordTarget(awsroute53targets.NewApiGatewayDomain(d))
	if atEdge, fronted := f.Domains[wildcardEdge]; fronted {
		edge := f.labelEdge(target, atEdge)
		target, alias = edge.DistributionDomainName(), awsroute53targets.NewCloudFrontTarget(edge)
	}
	// The record has one ID in both cases, because CloudFormation makes a new record before it deletes an old one, and a
	// zone takes no second one of a name.
	f.record("LabelsRecord", named, target, alias)
}

// ownOrigins reports whether each artifact has an origin of its own.
func (o options) ownOrigins() bool { return o.Domains[wildcard].Name != "" }

// readWildcard reads whether each artifact has an origin of its own, and the domains of those origins.
func (o *options) readWildcard(c lookup) error {
	content, named := o.Domains["content"]
	switch said := c.text("content-origins", "shared"); {
	case said == "shared":
		return nil
	case said != wildcard:
		return fmt.Errorf("content-origins is shared or wildcard, not %q", said)
	case !named:
		return fmt.Errorf("content-origins=wildcard needs a domain for every host, because AWS assigns no address that " +
			"other names can be below")
	case content.ZoneID == "" && o.hasZones() && c.text("zone-content", "") != noZone:
		return fmt.Errorf("the context lacks zone-content, the zone that gets the record *.%s: give its ID/NAME, or none to "+
			"make the records of domain-content by hand", content.Name)
	}
	at := content
	at.Name, at.Certificate = "*."+content.Name, c.text("certificate-wildcard", content.Certificate)
	o.Domains[wildcard] = at
	fronted, err := c.yes("wildcard-edge", "no")
	if err != nil {
		return err
	}
	if fronted {
		at.Certificate = c.text("certificate-wildcard-edge", at.Certificate)
		o.Domains[wildcardEdge] = at
	}
	for _, host := range wildcards {
		if d, on := o.Domains[host]; on {
			if err := d.checkCertificate(host); err != nil {
				return err
			}
		}
	}
	if err := o.warnOfCookies(c); err != nil {
		return err
	}
	return checkGatewayCertificates(o.Domains, c.text("region", ""))
}

// hasZones reports whether any host has its records made.
func (o options) hasZones() bool {
	for _, d := range o.Domains {
		if d.ZoneID != "" {
			return true
		}
	}
	return false
}

// warnOfCookies adds a warning unless browsers keep the cookies of artifacts apart. A name is in browsers' lists some
// time before it is in the one that this program has.
func (o *options) warnOfCookies(c lookup) error {
	name := o.Domains["content"].Name
	listed, err := c.yes("content-public-suffix", "no")
	if err != nil || listed || isolated(name) {
		return err
	}
	o.Warnings = append(o.Warnings, fmt.Sprintf("browsers keep the cookies of artifacts apart only if %s is on the "+
		"Public Suffix List: have it listed, then give content-public-suffix=yes", name))
	return nil
}

// isolated reports whether browsers keep the cookies of names below a name apart.
func isolated(name string) bool {
	suffix, _ := publicsuffix.PublicSuffix("label." + name)
	return suffix == name
}
