package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/env"
)

// options is the context of a synthesis, given as -c NAME=VALUE or in cdk.json. HOST is api, upload, content, app or
// mcp.
//
//	environment       preview (default) or production
//	name              what the stacks are called, before "-Data" and so on (default Vitrine)
//	arch              arm64 (default) or x86_64
//	dist              folder of HOST.zip (default dist)
//	keep              yes (default) or no: destroying the stacks destroys the data; refused in production. To do it
//	                  run scripts/destroy NAME: CloudFormation by itself deletes empty buckets only
//	domain-HOST       host name; for every host or for none
//	domain-origin     host name behind which CloudFront finds the upload host's gateway; optional, without it that
//	                  gateway also answers at the address that AWS assigns
//	certificate-HOST  ARN of its certificate in ACM; certificate stands for all that are not given. Those of upload and
//	                  identity are in us-east-1, because CloudFront serves them, and all others in the region of the
//	                  deployment: elsewhere than in us-east-1 give two, certificate and certificate-upload
//	region            where it is deployed (default AWS_REGION, as for the AWS command line)
//	zone-HOST         ID/NAME of a Route 53 zone that gets its record, or none; zone stands for all; optional
//	content-origins   shared (default): all artifacts are read at domain-content; or wildcard: each also has an origin of
//	                  its own below it. domain-content then shares its registrable domain with none of app, api, mcp
//	                  and the sign-in pages
//	certificate-wildcard  with content-origins=wildcard: ARN of a certificate for *.DOMAIN-CONTENT in the region of the
//	                  deployment; without it that of content has to cover the names
//	wildcard-edge     with content-origins=wildcard: no (default) or yes: CloudFront stands in front of those origins
//	certificate-wildcard-edge  with wildcard-edge: ARN of such a certificate in us-east-1; default certificate-wildcard
//	content-public-suffix  no (default) or yes: browsers have domain-content on the Public Suffix List, although this
//	                  version does not know it; otherwise artifacts can set cookies for each other, and a warning says so
//	identity          where people sign in: cognito (default, a user pool of the stack Data), oidc (any OpenID Connect
//	                  provider) or none. Redirects come back to APP/api/auth/callback, and to APP/ after signing out. It
//	                  can change: a pool that is left stays in the account if data is kept, and cognito makes a new one
//	                  the next time
//	identity-email-from  with cognito: address that its e-mail comes from, verified in SES in the deployment's region,
//	                  which lets you write to strangers; without it Cognito sends 50 e-mails a day at most
//	identity-email-identity  with identity-email-from: what is verified in SES, that address (default) or a domain that
//	                  it belongs to
//	identity-prefix   with cognito: first label of the sign-in pages' address (default NAME-ACCOUNT)
//	domain-identity   with cognito: host name of the sign-in pages; optional. The name above it needs a record already
//	oidc-issuer       with oidc: the issuer's URL
//	oidc-client-id    with oidc: this deployment's client there
//	oidc-client-secret  with oidc: whole ARN of the secret that holds the client's secret, encrypted with the account's
//	                  own key for secrets; without it the client is a public one
//	oidc-logout       with oidc: how the provider signs people out: rp_initiated, cognito or none (default)
//	oidc-operator-claim, oidc-operator-value  with oidc: the claim of ID tokens that names operators, and what it says of
//	                  them (with cognito: those in the pool's group operators; otherwise there are none)
//	oidc-email-verified  with oidc: claim (default), or issuer: addresses count as verified although ID tokens do not say
//	                  so. Only for an issuer that has the people of one organization and no others
//	agent-providers   whole ARN of the secret that lists the identity providers of agents that are trusted, encrypted with
//	                  the account's own key for secrets; without it none is. docs/deploy.md says what is in it
//	stripe-key, stripe-webhook-secret  whole ARNs of the secrets that hold the API key of an account at Stripe and the
//	                  signing secret of its webhook, encrypted with the account's own key for secrets
//	stripe-price-month, stripe-price-year  ids of the prices of the larger plan there. All four, or none: then no plan
//	                  can be bought
//	policy            file with the owner's policy: who gets in, limits, what pages may load, name and so on; its path
//	                  counts from the repository (default none, docs/deploy.md says what then holds)
//	settings          file with the outputs of an earlier deployment (default .vitrine/deployed/NAME.json)
//	concurrency-HOST  reserved concurrency, or none. Default: none, but 200 for content in production, so that slow
//	                  readers leave the other hosts some of the account's concurrency. AWS requires 100 of it to stay
//	                  unreserved, and new accounts may have less than that: request more, or give none
//	table-read-units, table-write-units  the most request units that each table takes in a second, or none (default:
//	                  the account's quota, 40,000 unless it was raised). Requests above it are throttled for all
//	                  callers: it bounds the bill, not a caller
//	narrow-writes     yes (default) or no: the roles of api, upload, app and mcp may write only the kinds of items that
//	                  those hosts need to. With no they may write any item of the table: for a deployment whose log shows
//	                  that AWS denies one of their writes
//	cache             bytes of files and lists of files that each function of content, api, app and mcp keeps in
//	                  memory (default 67108864), at most a quarter of the function's; 0 keeps none
//	throttle-HOST     RATE/BURST: requests a second that its gateway passes on and how many at once, or none. Default:
//	                  500/1000 for content, 200/400 for api, 100/200 for upload, app and mcp; all share the account's 10,000
//	hsts              for which names browsers are told to use HTTPS only: host (default, each host's own), subdomains
//	                  (those below it too) or preload (the same, and browsers may be built with the rule, which is hard
//	                  to take back)
//	edge-logs         yes (default) or no: distributions of CloudFront log chosen fields, no paths. Their logs are in
//	                  us-east-1 alone, so that a deployment elsewhere has none
//	bundles           yes (default) or no: newly published revisions get no archives; those that exist stay
//	noncurrent-days   how many days S3 keeps the replaced and deleted versions of files, from 7 to 30 (default 14). The
//	                  role of the output RecoveryRole brings them back until then
//	copy-bucket, copy-key  ARN of a second bucket, to which S3 copies files as they come, and of the KMS key that encrypts
//	                  them there; both or neither. docs/deploy.md has the commands that make such a bucket
//	copy-account      number of the account that owns copy-bucket, where that is another one
//	exports           daily or none (default): tables core and events are exported to copy-bucket every day
//	rings-region      another region, where each key ring has a replica; optional
//	rings-key         with rings-region: ARN of the KMS key there that encrypts the replicas; default: the account's own
//	                  key for secrets
//	table-core, table-events, table-hot  names of the tables that functions use instead of those of the stack Data, which
//	                  keeps its own: what a restore has made. All three, or none
//	bucket            name of the bucket that they use instead; optional. scripts/deploy compares both with what a
//	                  deployment has, and refuses what differs
//	alarm-topic       ARN of an SNS topic that alarms report to; optional
//	budget-usd        what the account may cost in a month, or none (default): spending above 80 % and 100 % of it, and
//	                  a forecast above 100 %, are reported to alarm-topic, whose policy must let budgets.amazonaws.com
//	                  publish. It does not limit costs
//	gateway-log-role  existing: the account already lets API Gateway write logs (default: the content stack arranges it)
type options struct {
	Name        string
	Environment credential.Environment
	Arch        string
	Dist        string
	Keep        bool
	Domains     map[string]domain // by host; empty: AWS assigns the addresses
	Addresses   addresses
	Identity    identity
	// AgentProviders is the ARN of the secret that lists the trusted identity providers of agents; empty: there are
	// none.
	AgentProviders string
	// Billing is the account at Stripe.
	Billing billing
	// Policy is what the owner of the deployment decided.
	Policy ownerPolicy
	// RingsVersion changes when a ring is rotated. It is a variable of every function, so that a new value restarts
	// them.
	RingsVersion string
	Settings     string
	Concurrency  map[string]float64  // 0: no reserve
	Throttles    map[string]throttle // by host; a host that is missing has none
	HSTS         web.HSTS
	EdgeLogs     bool
	Bundles      bool     // make archives of revisions
	Warnings     []string // what is allowed, but not advisable
	AlarmTopic   string
	Budget       float64 // US dollars a month; 0: none
	LogRole      bool    // make the role that lets API Gateway write logs
	Cache        int64   // bytes that a function keeps in memory; 0: none
	NarrowWrites bool    // hosts may write only those kinds of items that they need to
	Backup       backup
	Adopted      adopted
	// ReadUnits and WriteUnits are the most request units that each table takes in a second; 0: the account's quota.
	ReadUnits, WriteUnits float64
}

// domain is a custom domain of a host.
type domain struct {
	Name, Certificate string
	ZoneID, ZoneName  string // empty: the zone's owner makes the record by hand
}

// hasDomains reports whether the hosts have custom domains.
func (o options) hasDomains() bool { return len(o.Domains) > 0 }

// production reports whether this is a production deployment, whose data must not be lost.
func (o options) production() bool { return o.Environment == credential.Production }

var (
	hostNames     = env.Hosts
	functionNames = env.Functions
	nameShape     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,39}$`)
)

// lookup returns one value of the context; nil if it is not given.
type lookup func(name string) any

func (l lookup) text(name, otherwise string) string {
	if v := l(name); v != nil && fmt.Sprint(v) != "" {
		return fmt.Sprint(v)
	}
	return otherwise
}

// orEnvironment takes a region that the context does not give from the variables of the AWS command line and the CDK.
func (l lookup) orEnvironment(getenv func(string) string) lookup {
	return func(name string) any {
		if v := l(name); v != nil || name != "region" {
			return v
		}
		return cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), getenv("CDK_DEFAULT_REGION"))
	}
}

// readOptions reads and checks the context. Each of its errors is one sentence for the deployer.
func readOptions(c lookup) (options, error) {
	o := options{
		Name:        c.text("name", "Vitrine"),
		Environment: credential.Environment(c.text("environment", string(credential.Preview))),
		Arch:        c.text("arch", "arm64"),
		Dist:        c.text("dist", "dist"),
		Keep:        c.text("keep", "yes") != "no",
		AlarmTopic:  c.text("alarm-topic", ""),
		LogRole:     c.text("gateway-log-role", "") != "existing",
		HSTS:        web.HSTS(c.text("hsts", string(web.HSTSHost))),
		EdgeLogs:    c.text("edge-logs", "yes") != "no",
		Bundles:     c.text("bundles", "yes") != "no",
	}
	o.Settings = c.text("settings", filepath.Join(".vitrine", "deployed", o.Name+".json"))
	err := o.checkWords()
	for _, name := range []string{"keep", "edge-logs", "bundles"} {
		if answer := c.text(name, "yes"); err == nil && answer != "yes" && answer != "no" {
			err = fmt.Errorf("the context %s is yes or no, not %q", name, answer)
		}
	}
	if err != nil {
		return o, err
	}
	if err = o.readBounds(c); err != nil {
		return o, err
	}
	if o.Concurrency, err = readConcurrency(c, o.production()); err != nil {
		return o, err
	}
	if o.Throttles, err = readThrottles(c); err != nil {
		return o, err
	}
	if o.Domains, err = readDomains(c); err != nil {
		return o, err
	}
	if err = o.readWildcard(c); err != nil {
		return o, err
	}
	if o.production() && !o.hasDomains() {
		return o,
			fmt.Errorf(
				"production needs a host name for every host: give the context domain-api, domain-upload, domain-content, " +
					"domain-app and domain-mcp")
	}
	if o.Identity, err = readIdentity(c, o); err != nil {
		return o, err
	}
	if o.AgentProviders, err = readProviders(c); err != nil {
		return o, err
	}
	if o.Billing, err = readBilling(c); err != nil {
		return o, err
	}
	if o.Policy, err = readPolicy(c, o); err != nil {
		return o, err
	}
	if o.Backup, err = readBackup(c); err != nil {
		return o, err
	}
	if o.Adopted, err = readAdopted(c); err != nil {
		return o, err
	}
	if err = o.checkSites(); err != nil {
		return o, err
	}
	known, err := readSettings(o.Settings)
	o.Addresses, o.RingsVersion = findAddresses(o, known), known[o.stackName("data")]["RingsVersion"]
	o.Identity.find(known[o.stackName("data")])
	return o, err
}

// contentConcurrency is how much of the account's concurrency readers of files may take in production.
const contentConcurrency = 200

// pagesConcurrency is how much of it readers of pages may take in production. Each page costs up to a second of a core.
const pagesConcurrency = 50

func readConcurrency(c lookup, production bool) (map[string]float64, error) {
	out := map[string]float64{}
	if production {
		out["content"], out[env.Pages] = contentConcurrency, pagesConcurrency
	}
	for _, host := range append(slices.Clone(hostNames), env.Pages) {
		given := c.text("concurrency-"+host, "")
		if given == "" {
			continue
		}
		n, err := c.count("concurrency-" + host)
		if err != nil {
			return nil, err
		}
		out[host] = n
	}
	return out, nil
}

func (o options) checkWords() error {
	switch {
	case !nameShape.MatchString(o.Name):
		return fmt.Errorf("the context name is a letter and then letters, digits and hyphens, at most 40, not %q", o.Name)
	case o.Environment != credential.Preview && o.Environment != credential.Production:
		return fmt.Errorf("the context environment is preview or production, not %q", o.Environment)
	case o.Arch != "arm64" && o.Arch != "x86_64":
		return fmt.Errorf("the context arch is arm64 or x86_64, not %q", o.Arch)
	case !o.HSTS.Valid():
		return fmt.Errorf("the context hsts is host, subdomains or preload, not %q", o.HSTS)
	case o.production() && !o.Keep:
		return fmt.Errorf("production keeps its data: leave the context keep away")
	}
	return nil
}

// readDomains reads the domains of the hosts. It refuses domains for only some of them, because the others would have
// no address until a second deployment.
func readDomains(c lookup) (map[string]domain, error) {
	found := map[string]domain{}
	var missing []string
	for _, host := range append(slices.Clone(hostNames), "origin") {
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
		return nil,
			fmt.Errorf(
				"the content host must not share a name with the app host, whose cookies it would see: give domain-content one " +
					"of its own")
	}
	return found, checkGatewayCertificates(found, c.text("region", ""))
}

// noZone is what the option of a host says whose records are made by hand although zone stands for all.
const noZone = "none"

func readDomain(c lookup, host, name string) (domain, error) {
	d := domain{Name: strings.ToLower(name), Certificate: c.text("certificate-"+host, c.text("certificate", ""))}
	if err := d.checkCertificate(host); err != nil {
		return d, err
	}
	zone := c.text("zone-"+host, c.text("zone", ""))
	if zone == "" || zone == noZone {
		return d, nil
	}
	var both bool
	if d.ZoneID, d.ZoneName, both = strings.Cut(zone, "/"); !both || !strings.HasSuffix("."+d.Name, "."+d.ZoneName) {
		return d, fmt.Errorf("zone-%s is ID/NAME of the zone that holds %s, not %q", host, d.Name, zone)
	}
	return d, nil
}

// related reports whether two host names are equal or one is below the other.
func related(a, b string) bool {
	return strings.HasSuffix("."+a, "."+b) || strings.HasSuffix("."+b, "."+a)
}
