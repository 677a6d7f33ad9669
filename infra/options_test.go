package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// domains returns a complete set of names, changed for a test; "" removes one.
func domains(change map[string]any) map[string]any {
	all := map[string]any{"certificate": certificate}
	for host, name := range domainNames {
		all["domain-"+host] = name
	}
	maps.Copy(all, change)
	return all
}

// mistake is a context with one mistake, and a part of the error.
type mistake struct {
	name string
	from map[string]any
	want string
}

var badOptions = []mistake{
	{"a strange name", map[string]any{"name": "my vitrine"}, "the context name"},
	{"a strange environment", map[string]any{"environment": "staging"}, "preview or production"},
	{"a strange architecture", map[string]any{"arch": "mips"}, "arm64 or x86_64"},
	{"production that forgets", domains(map[string]any{"environment": "production", "keep": "no"}),
		"production keeps its data"},
	{"production without domains", map[string]any{"environment": "production"}, "production needs a host name"},
	{"half of the domains", domains(map[string]any{"domain-app": "", "domain-content": ""}),
		"lacks domain-content, domain-app"},
	{"no certificate", domains(map[string]any{"certificate": ""}), "lacks certificate-api"},
	{"an upload certificate elsewhere",
		domains(map[string]any{"certificate-upload": "arn:aws:acm:eu-west-1:111122223333:certificate/x"}), "us-east-1"},
	{"content below app", domains(map[string]any{"domain-content": "files.app.example.org"}), "must not share a name"},
	{"content above app", domains(map[string]any{"domain-content": "example.org"}), "must not share a name"},
	{"content like app", domains(map[string]any{"domain-content": "App.example.org"}), "must not share a name"},
	{"a zone without name", domains(map[string]any{"zone": "Z1"}), "ID/NAME"},
	{"a foreign zone", domains(map[string]any{"zone": "Z1/example.net"}),
		"ID/NAME of the zone that holds api.example.org"},
	{"a strange answer", map[string]any{"keep": "false"}, "keep is yes or no"},
	{"another strange answer", map[string]any{"narrow-writes": "true"}, "narrow-writes is yes or no"},
	{"no units", map[string]any{"table-read-units": "0"}, "table-read-units is a number of at least 1 or none"},
	{"units in words", map[string]any{"table-write-units": "few"}, "table-write-units is a number of at least 1 or none"},
	{"a budget of nothing", map[string]any{"budget-usd": "0", "alarm-topic": "arn"},
		"budget-usd is a number of at least 1 or none"},
	{"a budget that nobody hears of", map[string]any{"budget-usd": "5"}, "give alarm-topic too"},
	{"another strange answer", map[string]any{"edge-logs": "false"}, "edge-logs is yes or no"},
	{"no concurrency", map[string]any{"concurrency-api": "0"}, "at least 1"},
	{"concurrency in words", map[string]any{"concurrency-api": "many"}, "at least 1"},
	{
		"gateways elsewhere than their certificate", domains(map[string]any{"region": "eu-west-1"}),
		"certificate-api, certificate-content, certificate-app, certificate-mcp have to be in eu-west-1",
	},
	{
		"one gateway elsewhere than its certificate",
		domains(map[string]any{"region": "us-east-1", "certificate-app": euCertificate}),
		"certificate-app has to be in us-east-1",
	},
	{
		"gateways in two regions", domains(map[string]any{"certificate-content": euCertificate}),
		"certificate-content has to be in us-east-1",
	},
	{
		"a certificate for CloudFront elsewhere",
		domains(map[string]any{"region": "eu-west-1", "certificate": euCertificate}),
		"certificate-upload has to be in us-east-1",
	},
	{
		"a certificate for the sign-in pages elsewhere", domains(map[string]any{
			"region":             "eu-west-1",
			"certificate":        euCertificate,
			"certificate-upload": certificate,
			"domain-identity":    "id.example.org",
		}),
		"certificate-identity has to be in us-east-1",
	},
	{
		"a certificate that is none",
		domains(map[string]any{"certificate-app": "arn:aws:iam::111122223333:server-certificate/x"}),
		"certificate-app is the ARN",
	},
	{"the domains of a release without an MCP host", domains(map[string]any{"domain-mcp": ""}), "lacks domain-mcp"},
	{
		"content beside mcp in production",
		domains(map[string]any{"environment": "production", "domain-mcp": "mcp.example.net"}),
		"domain-mcp",
	},
	{
		"content beside app in production",
		domains(map[string]any{"environment": "production", "domain-content": "files.example.org"}),
		"give domain-content a name that is not under example.org",
	},
	{
		"content beside api in production", domains(map[string]any{
			"environment": "production", "domain-content": "files.example.co.uk", "domain-api": "api.example.co.uk",
		}),
		"example.co.uk",
	},
	{
		"content beside the sign-in pages in production", domains(map[string]any{
			"environment": "production", "domain-content": "files.example.com", "domain-identity": "id.example.com",
		}),
		"domain-identity",
	},
	{"a throttle without a burst", map[string]any{"throttle-api": "100"}, "throttle-api is RATE/BURST"},
	{"a throttle that lets nobody in", map[string]any{"throttle-app": "0/5"}, "throttle-app is RATE/BURST"},
	{"a throttle in words", map[string]any{"throttle-content": "many/more"}, "throttle-content is RATE/BURST"},
	{"providers themselves", map[string]any{"agent-providers": `[{"issuer":"x"}]`}, "agent-providers is the whole ARN"},
	{"a file of providers", map[string]any{"agent-providers": "file:providers.json"}, "agent-providers is the whole ARN"},
	{"half of an ARN of providers", map[string]any{"agent-providers": strings.TrimSuffix(providerList, "-AbC123")},
		"agent-providers is the whole ARN"},
	{"a key itself", map[string]any{"stripe-key": "sk_live_1"}, "stripe-key is the whole ARN"},
	{"a part of an account", map[string]any{"stripe-key": stripeKey}, "stripe-webhook-secret is the whole ARN"},
	{"an account without a price", map[string]any{
		"stripe-key": stripeKey, "stripe-webhook-secret": stripeSecret, "stripe-price-month": "price_month",
	}, "stripe-price-year is the id of a price"},
	{"a cache in words", map[string]any{"cache": "64MB"}, "cache is a number of bytes"},
	{"a cache below nothing", map[string]any{"cache": "-1"}, "cache is a number of bytes"},
	{"a cache that leaves no memory", map[string]any{"cache": "134217729"}, "cache is a number of bytes"},
	{"versions that hardly live", map[string]any{"noncurrent-days": "6"}, "noncurrent-days is a number from 7 to 30"},
	{"versions that live on", map[string]any{"noncurrent-days": "31"}, "noncurrent-days is a number from 7 to 30"},
	{"versions in words", map[string]any{"noncurrent-days": "two weeks"}, "noncurrent-days is a number from 7 to 30"},
	{"a copy without a key", map[string]any{"copy-bucket": copyBucket}, "copy-bucket and copy-key belong together"},
	{"a copy without a bucket", map[string]any{"copy-key": copyKey}, "copy-bucket and copy-key belong together"},
	{"a bucket by its name", map[string]any{"copy-bucket": "copy", "copy-key": copyKey}, "copy-bucket is the ARN"},
	{"a folder of a bucket", map[string]any{"copy-bucket": copyBucket + "/o", "copy-key": copyKey},
		"copy-bucket is the ARN"},
	{"the alias of a key", map[string]any{"copy-bucket": copyBucket, "copy-key": "alias/copy"}, "copy-key is the ARN"},
	{"an account by its name", map[string]any{"copy-bucket": copyBucket, "copy-key": copyKey, "copy-account": "backups"},
		"copy-account is the number of an account"},
	{"an account without a copy", map[string]any{"copy-account": "444455556666"}, "copy-account owns the second bucket"},
	{"two mistakes about copies", map[string]any{"copy-bucket": copyBucket, "rings-key": ringsKey}, "belong together"},
	{"exports into nothing", map[string]any{"exports": "daily"}, "exports go to the second bucket"},
	{"exports by the hour", map[string]any{"exports": "hourly"}, "exports is daily or none"},
	{"replicas of rings at home", map[string]any{"region": "eu-west-1", "rings-region": "eu-west-1"},
		"choose another region"},
	{"replicas of rings anywhere", map[string]any{"rings-region": "europe"}, "rings-region is the name of a region"},
	{"a key without replicas", map[string]any{"rings-key": ringsKey}, "give rings-region too"},
	{"a key elsewhere than its replicas", map[string]any{"rings-region": "eu-west-3", "rings-key": ringsKey},
		"rings-key is the ARN of a KMS key in eu-west-3"},
	{"one table of three", map[string]any{"table-core": "core"}, "all three or none"},
	{"two tables of three", map[string]any{"table-events": "events", "table-hot": "hot"}, "all three or none"},
	{"a table twice", map[string]any{"table-core": "core", "table-events": "core", "table-hot": "hot"},
		"do not name one twice"},
	{"a table by its ARN", map[string]any{
		"table-core": "arn:aws:dynamodb:eu-west-1:111122223333:table/c", "table-events": "events", "table-hot": "hot",
	}, "table-core, table-events and table-hot are names of tables"},
	{"a bucket by its ARN", map[string]any{"bucket": copyBucket}, "bucket is the name of a bucket"},
	{"a strange rule for HTTPS", map[string]any{"hsts": "everywhere"}, "hsts is host, subdomains or preload"},
}

// optionsFrom reads the options of a context.
func optionsFrom(context map[string]any) (options, error) {
	return readOptions(func(name string) any { return context[name] })
}

func TestBadOptionsAreRefusedInOneSentence(t *testing.T) {
	for _, tt := range slices.Concat(badOptions, badProviders(), badWildcards) {
		t.Run(tt.name, func(t *testing.T) {
			_, err := optionsFrom(tt.from)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one sentence with %q", err, tt.want)
			}
		})
	}
}

func TestEachRegionTakesItsOwnCertificates(t *testing.T) {
	for name, given := range map[string]map[string]any{
		"one in us-east-1":          {"region": "us-east-1"},
		"two in eu-west-1":          {"region": "eu-west-1", "certificate": euCertificate, "certificate-upload": certificate},
		"two, the region not known": {"certificate": euCertificate, "certificate-upload": certificate},
		"two, and one for sign-in": {
			"region": "eu-west-1", "certificate": euCertificate, "certificate-upload": certificate,
			"certificate-identity": certificate, "domain-identity": "id.example.org",
		},
	} {
		from := domains(given)
		if _, err := optionsFrom(from); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheRegionIsThatOfTheCommandLine(t *testing.T) {
	for _, tt := range []struct {
		given any
		env   map[string]string
		want  any
	}{
		{nil, map[string]string{"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-2"}, "eu-west-1"},
		{nil, map[string]string{"AWS_DEFAULT_REGION": "eu-west-2", "CDK_DEFAULT_REGION": "eu-west-3"}, "eu-west-2"},
		{nil, map[string]string{"CDK_DEFAULT_REGION": "eu-west-3"}, "eu-west-3"},
		{"eu-north-1", map[string]string{"AWS_REGION": "eu-west-1"}, "eu-north-1"},
		{nil, nil, ""},
	} {
		c := lookup(func(string) any { return tt.given }).orEnvironment(func(name string) string { return tt.env[name] })
		if got := c("region"); got != tt.want {
			t.Errorf("%v with %v is %v, want %v", tt.given, tt.env, got, tt.want)
		}
		if got := c("name"); got != tt.given {
			t.Errorf("other values become %v", got)
		}
	}
}

func TestOptionsAreCheckedWithoutTheCDK(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-west-1")
	t.Chdir(t.TempDir())
	file := `{"context": {"environment": "production", "keep": "yes"}}`
	if err := os.WriteFile("cdk.json", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	given := func(change map[string]any) (args []string) {
		for name, value := range domains(change) {
			args = append(args, "-c", name+"="+value.(string))
		}
		return args
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"one certificate of us-east-1": {given(nil),
			"certificate-api, certificate-content, certificate-app, certificate-mcp have to be in eu-west-1"},
		"what the file says": {nil, "production needs a host name"},
		"no value":           {[]string{"-c"}, "give -c NAME=VALUE"},
		"a name alone":       {[]string{"-c", "keep"}, "NAME=VALUE, not \"keep\""},
	} {
		_, err := checkOnly(tt.args)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one sentence with %q", name, err, tt.want)
		}
	}
	for name, args := range map[string][]string{
		"two certificates":     given(map[string]any{"certificate": euCertificate, "certificate-upload": certificate}),
		"the region in a word": append(given(nil), "-c", "region=us-east-1"),
		"a word over the file": {"-c", "environment=preview"},
	} {
		if warnings, err := checkOnly(args); err != nil || len(warnings) > 0 {
			t.Errorf("%s: %q, %v", name, warnings, err)
		}
	}
}

func TestAPreviewWhoseContentIsOneSiteWithItsAppIsWarned(t *testing.T) {
	unnamed := map[string]any{"domain-api": "", "domain-upload": "", "domain-content": "", "domain-app": "", "domain-mcp": ""}
	for name, tt := range map[string]struct {
		change map[string]any
		want   int
	}{
		"beside app": {map[string]any{"domain-content": "files.example.org"}, 1},
		"apart":      {nil, 0},
		"under a suffix of many": {map[string]any{
			"domain-content": "files.github.io",
			"domain-app":     "app.github.io",
		}, 0},
		"without names":                    {unnamed, 0},
		"production with names of its own": {map[string]any{"environment": "production"}, 0},
	} {
		from := domains(tt.change)
		o, err := optionsFrom(from)
		if err != nil || len(o.Warnings) != tt.want {
			t.Errorf("%s: %d warnings, want %d: %q, %v", name, len(o.Warnings), tt.want, o.Warnings, err)
		}
	}
}

func TestThrottlesAreOptions(t *testing.T) {
	given := map[string]any{"throttle-api": "1000/2000", "throttle-app": "none"}
	o, err := optionsFrom(given)
	want := map[string]throttle{"content": {500, 1000}, "api": {1000, 2000}, "upload": {100, 200}, "mcp": {100, 200}}
	if err != nil || !maps.Equal(o.Throttles, want) {
		t.Errorf("got %v, %v, want %v", o.Throttles, err, want)
	}
	o, err = readOptions(func(string) any { return nil })
	want = map[string]throttle{"content": {500, 1000}, "api": {200, 400}, "upload": {100, 200}, "app": {100, 200}, "mcp": {100, 200}}
	if err != nil || !maps.Equal(o.Throttles, want) {
		t.Errorf("got %v, %v, want %v", o.Throttles, err, want)
	}
}

func TestCodeThatCannotRunNamesTheCommandThatBuildsIt(t *testing.T) {
	o := options{Dist: filepath.Join(t.TempDir(), "dist"), Arch: "arm64"}
	if err := o.findCode(); err == nil || !strings.Contains(err.Error(), "run scripts/build") {
		t.Errorf("without code: %v", err)
	}
	if err := writeZips(o); err != nil {
		t.Fatal(err)
	}
	if err := o.findCode(); err != nil {
		t.Errorf("with code: %v", err)
	}
	o.Arch = "x86_64"
	if err := o.findCode(); err == nil || !strings.Contains(err.Error(), "run scripts/build -arch amd64") {
		t.Errorf("with code for another machine: %v", err)
	}
}

func TestADamagedSettingsFileIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(file, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := readOptions(func(name string) any { return map[string]any{"settings": file}[name] })
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v, want the name of the file", err)
	}
}
