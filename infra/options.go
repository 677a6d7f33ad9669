package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vitrine/shared/credential"
)

// options is the context of a synthesis, given as -c NAME=VALUE or in cdk.json. HOST is api, upload, content or app.
//
//	environment       preview (default) or production
//	name              what the stacks are called, before "-Data" and so on (default Vitrine)
//	arch              arm64 (default) or x86_64
//	dist              folder of HOST.zip (default dist)
//	keep              no: destroying the stacks destroys the data; refused in production
//	domain-HOST       host name; for every host or for none
//	domain-origin     host name behind which CloudFront finds the upload host's gateway; optional, without it that gateway
//	                  also answers at the address that AWS makes up
//	domain-mcp        host name of the MCP host; optional, without it discovery names the api host
//	certificate-HOST  ARN of its certificate in ACM (those of upload and identity in us-east-1); certificate stands for all that are not given
//	zone-HOST         ID/NAME of a Route 53 zone that gets its record; zone stands for all; optional
//	identity          where people sign in: cognito (default, a user pool of the stack Data), oidc (any OpenID Connect provider)
//	                  or none. Redirects come back to APP/api/auth/callback, and to APP/ after signing out
//	identity-prefix   with cognito: first label of the sign-in pages' address (default NAME-ACCOUNT)
//	domain-identity   with cognito: host name of the sign-in pages; optional. The name above it needs a record already
//	oidc-issuer       with oidc: the issuer's URL
//	oidc-client-id    with oidc: this deployment's client there
//	oidc-client-secret  with oidc: whole ARN of the secret that holds the client's secret, encrypted with the account's own key
//	                  for secrets; without it the client is a public one
//	oidc-logout       with oidc: how the provider signs people out: rp_initiated, cognito or none (default)
//	settings          file with the outputs of an earlier deployment (default .vitrine/deployed/NAME.json)
//	concurrency-HOST  reserved concurrency; optional
//	alarm-topic       ARN of an SNS topic that alarms report to; optional
//	gateway-log-role  existing: the account lets API Gateway write logs already (default: the content stack sees to it)
type options struct {
	Name        string
	Environment credential.Environment
	Arch        string
	Dist        string
	Keep        bool
	Domains     map[string]domain // empty: the hosts have the addresses that AWS gives them
	Addresses   addresses
	Identity    identity
	// RingsVersion differs after a rotation, and starts every function anew when it is told.
	RingsVersion string
	Settings     string
	Concurrency  map[string]float64
	AlarmTopic   string
	LogRole      bool // make the role that lets API Gateway write logs
}

// domain is a name of our own for a host.
type domain struct {
	Name, Certificate string
	ZoneID, ZoneName  string // empty: whoever owns the zone makes the record
}

// named tells whether the hosts have domains.
func (o options) named() bool { return len(o.Domains) > 0 }

// production tells whether what is deployed must not be lost.
func (o options) production() bool { return o.Environment == credential.Production }

var (
	hostNames     = []string{"api", "upload", "content", "app"}
	functionNames = append(slices.Clone(hostNames), "jobs")
	nameShape     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,39}$`)
)

// lookup reads one value of the context; nil if it is not given.
type lookup func(name string) any

func (c lookup) text(name, otherwise string) string {
	if v := c(name); v != nil && fmt.Sprint(v) != "" {
		return fmt.Sprint(v)
	}
	return otherwise
}

// readOptions reads and checks the context. Its errors are one sentence.
func readOptions(c lookup) (options, error) {
	o := options{
		Name: c.text("name", "Vitrine"), Environment: credential.Environment(c.text("environment", string(credential.Preview))),
		Arch: c.text("arch", "arm64"), Dist: c.text("dist", "dist"), Keep: c.text("keep", "yes") == "yes",
		AlarmTopic: c.text("alarm-topic", ""), LogRole: c.text("gateway-log-role", "") != "existing",
		Concurrency: map[string]float64{},
	}
	o.Settings = c.text("settings", filepath.Join(".vitrine", "deployed", o.Name+".json"))
	if err := o.checkWords(); err != nil {
		return o, err
	}
	for _, host := range hostNames {
		given := c.text("concurrency-"+host, "")
		if given == "" {
			continue
		}
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 {
			return o, fmt.Errorf("concurrency-%s is a number of at least 1, not %q", host, given)
		}
		o.Concurrency[host] = float64(n)
	}
	var err error
	if o.Domains, err = readDomains(c); err != nil {
		return o, err
	}
	if o.production() && !o.named() {
		return o, fmt.Errorf("production needs a host name for every host: give the context domain-api, domain-upload, domain-content and domain-app")
	}
	if o.Identity, err = readIdentity(c, o); err != nil {
		return o, err
	}
	known, err := readSettings(o.Settings)
	o.Addresses, o.RingsVersion = findAddresses(o, known), known[o.stackName("data")]["RingsVersion"]
	return o, err
}

func (o options) checkWords() error {
	switch {
	case !nameShape.MatchString(o.Name):
		return fmt.Errorf("the context name is a letter and then letters, digits and hyphens, at most 40, not %q", o.Name)
	case o.Environment != credential.Preview && o.Environment != credential.Production:
		return fmt.Errorf("the context environment is preview or production, not %q", o.Environment)
	case o.Arch != "arm64" && o.Arch != "x86_64":
		return fmt.Errorf("the context arch is arm64 or x86_64, not %q", o.Arch)
	case o.production() && !o.Keep:
		return fmt.Errorf("production keeps its data: leave the context keep away")
	}
	return nil
}

// readDomains reads the names of the hosts: all or none, because half of them would leave the other half without an
// address until a second deployment.
func readDomains(c lookup) (map[string]domain, error) {
	found := map[string]domain{}
	var missing []string
	for _, host := range append(slices.Clone(hostNames), "origin", "mcp") {
		name := c.text("domain-"+host, "")
		if name == "" {
			if slices.Contains(hostNames, host) {
				missing = append(missing, "domain-"+host)
			}
			continue
		}
		d, err := readDomain(c, host, name)
		if err != nil {
			return nil, err
		}
		found[host] = d
	}
	switch {
	case len(found) == 0:
		return nil, nil
	case len(missing) > 0:
		return nil, fmt.Errorf("the context lacks %s: name a domain for every host, or for none", strings.Join(missing, ", "))
	case related(found["content"].Name, found["app"].Name):
		return nil, fmt.Errorf("the content host must not share a name with the app host, whose cookies it would see: give domain-content one of its own")
	}
	return found, nil
}

func readDomain(c lookup, host, name string) (domain, error) {
	d := domain{Name: strings.ToLower(name), Certificate: c.text("certificate-"+host, c.text("certificate", ""))}
	if host == "mcp" { // only its address is needed yet
		return d, nil
	}
	if d.Certificate == "" {
		return d, fmt.Errorf("the context lacks certificate-%s, the ARN of a certificate for %s", host, d.Name)
	}
	if (host == "upload" || host == "identity") && !strings.Contains(d.Certificate, ":acm:us-east-1:") {
		return d, fmt.Errorf("certificate-%s has to be in us-east-1, because CloudFront serves that host", host)
	}
	zone := c.text("zone-"+host, c.text("zone", ""))
	if zone == "" {
		return d, nil
	}
	var both bool
	if d.ZoneID, d.ZoneName, both = strings.Cut(zone, "/"); !both || !strings.HasSuffix("."+d.Name, "."+d.ZoneName) {
		return d, fmt.Errorf("zone-%s is ID/NAME of the zone that holds %s, not %q", host, d.Name, zone)
	}
	return d, nil
}

// related tells whether one host name is the other or lies below it.
func related(a, b string) bool {
	return strings.HasSuffix("."+a, "."+b) || strings.HasSuffix("."+b, "."+a)
}
