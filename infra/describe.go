package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/env"
)

// description tells the scripts about a synthesis. It is written next to the templates as deployment.json.
type description struct {
	Name     string            `json:"name"`
	Settings string            `json:"settings"` // path of the file that scripts/deploy writes
	Stacks   []string          `json:"stacks"`   // in the order in which they are deployed
	Final    bool              `json:"final"`    // all addresses are custom domains, so one deployment is enough
	Hosts    map[string]string `json:"hosts"`    // host to its stack
	Told     map[string]string `json:"told"`     // host to its address as the functions know it
	Origins  string            `json:"origins"`  // the domain of the artifacts' own origins; empty: none
	Quota    int               `json:"quota"`    // unclaimed workspaces that a new deployment makes in a minute
	Adopted  map[string]string `json:"adopted"`  // tables and bucket that are used, by the construct that they replace
}

// describe writes deployment.json and env.json.
func (d *deployment) describe(folder string) error {
	a := d.Addresses
	out := description{
		Name:     d.Name,
		Settings: d.Settings,
		Stacks:   []string{d.stackName("data")},
		Final:    d.hasDomains(),
		Origins:  strings.TrimPrefix(d.Domains[wildcard].Name, "*."),
		Quota:    d.Policy.PerMinute,
		Adopted:  d.Adopted.names(),
		Hosts:    map[string]string{},
		Told: map[string]string{
			"api":     a.API,
			"upload":  a.Upload,
			"content": a.Content,
			"app":     a.App,
			"mcp":     a.MCP,
		},
	}
	for _, f := range d.hosts {
		out.Hosts[f.name] = *f.stack.StackName()
	}
	for _, f := range d.functions() {
		out.Stacks = append(out.Stacks, *f.stack.StackName())
	}
	if err := writeJSON(filepath.Join(folder, "deployment.json"), out); err != nil {
		return err
	}
	return writeJSON(filepath.Join(folder, "env.json"), d.localEnvironment())
}

// localEnvironment returns the variables for `sam local start-api --docker-network host --env-vars cdk.out/env.json`,
// by the logical ID of each function. They point at the engines and addresses of scripts/dev, whose access keys must be
// in the environment of sam itself. A container sees neither the key rings of scripts/dev nor the secrets of a
// deployment. It makes rings of its own, so it accepts only what it signed itself.
func (d *deployment) localEnvironment() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, f := range d.functions() {
		variables := map[string]string{
			env.Environment:      "preview",
			env.APIURL:           "http://localhost:8701",
			env.UploadURL:        "http://localhost:8702",
			env.ContentURL:       "http://127.0.0.1:8703",
			env.AppURL:           "http://localhost:8704",
			env.MCPURL:           "http://localhost:8705",
			env.CoreTable:        "vitrine-core",
			env.EventsTable:      "vitrine-events",
			env.HotTable:         "vitrine-hot",
			env.Bucket:           "vitrine",
			env.DynamoDBEndpoint: "http://127.0.0.1:8711",
			env.S3Endpoint:       "http://127.0.0.1:8712",
			env.S3Domain:         "s3.localhost:8712",
		}
		for _, name := range f.people { // all of them: those without a local value are cleared
			variables[name] = localPeople[name]
		}
		variables[env.RingsVersion], variables[env.HSTS] = "", string(web.HSTSHost)
		variables[env.PolicyFile], variables[env.SellsPlans] = "", "off" // scripts/dev names the policy itself
		if f.origins && f.ownOrigins() {
			variables[env.ContentOrigins] = "" // their names are those of the deployment
		}
		if f.providers {
			variables[env.Providers] = "" // a container reads no secret
		}
		for name := range f.billingSettings(f.Billing) {
			variables[name] = ""
		}
		if f.registers {
			variables[env.AgentRegistration] = "on"
		}
		if f.bundles {
			variables[env.Bundles] = f.bundleInterval(1) // because scripts/dev makes bundles at once
		}
		if f.streams {
			variables[env.ResponseMode] = "buffered" // sam local does not stream
		}
		if f.caches {
			variables[env.Cache] = strconv.FormatInt(f.Cache, 10)
		}
		for _, ring := range f.rings {
			variables[ring] = "file:/tmp/rings.json"
		}
		all[*f.stack.GetLogicalId(f.cfn())] = variables
	}
	return all
}

// localPeople describes the identity provider of scripts/dev. A container cannot read the file with the client's
// secret: it accepts tokens of that provider, but its pages cannot sign people in.
var localPeople = map[string]string{
	env.OIDCIssuer:   "http://localhost:8706",
	env.OIDCClientID: "vitrine",
	env.OIDCLogout:   "rp_initiated",
}

func writeJSON(file string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
