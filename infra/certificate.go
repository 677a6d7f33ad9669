package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// edgeRegion is the only region that CloudFront takes certificates from and delivers logs from.
const edgeRegion = "us-east-1"

// certificateShape matches the ARN of a certificate in ACM. Its first group is the region.
var certificateShape = regexp.MustCompile(`^arn:[a-z-]+:acm:([a-z0-9-]+):[0-9]{12}:certificate/[^\s]+$`)

// region returns the region of the domain's certificate; empty if its ARN has none.
func (d domain) region() string {
	if found := certificateShape.FindStringSubmatch(d.Certificate); found != nil {
		return found[1]
	}
	return ""
}

// atEdge reports whether CloudFront serves the domain of a host. For identity, the sign-in pages, that is a
// distribution of Cognito's, and otherwise one of the deployment.
func atEdge(host string) bool { return host == "upload" || host == "identity" || host == wildcardEdge }

// checkCertificate checks the certificate of one host, without regard to the others.
func (d domain) checkCertificate(host string) error {
	switch at := d.region(); {
	case d.Certificate == "":
		return fmt.Errorf("the context lacks certificate-%s, the ARN of a certificate for %s", host, d.Name)
	case at == "":
		return fmt.Errorf("certificate-%s is the ARN of a certificate in ACM, not %q", host, d.Certificate)
	case atEdge(host) && at != edgeRegion:
		return fmt.Errorf(
			"certificate-%s has to be in %s, because CloudFront serves that host, not in %s: request one for %s there",
			host, edgeRegion, at, d.Name)
	}
	return nil
}

// checkGatewayCertificates checks that the certificates of gateways are in the region of the deployment, because a
// gateway takes no others. If that region is unknown, they must all be in the same one.
func checkGatewayCertificates(domains map[string]domain, region string) error {
	var wrong, elsewhere []string
	for _, host := range append(slices.Clone(hostNames), "origin", wildcard) {
		d, named := domains[host]
		if !named || atEdge(host) {
			continue
		}
		if region == "" {
			region = d.region()
		}
		if at := d.region(); at != region {
			wrong, elsewhere = append(wrong, "certificate-"+host), append(elsewhere, at)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(elsewhere)
	verb := "has"
	if len(wrong) > 1 {
		verb = "have"
	}
	return fmt.Errorf("%s %s to be in %s, the region of the deployment (AWS_REGION), not in %s: "+
		"request one certificate there for certificate, and one in %s for certificate-upload",
		strings.Join(wrong, ", "), verb, region, strings.Join(slices.Compact(elsewhere), " and "), edgeRegion)
}
