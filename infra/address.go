package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"vitrine/shared/platform/address"
)

// addresses are the origins of all hosts. Every host gets all of them.
//
// With custom domains, the addresses are known beforehand. Without them, AWS assigns the addresses in the first
// deployment. Templates cannot pass those on, because the hosts need each other's and CloudFormation allows no cycle of
// references. So scripts/deploy reads the outputs of the stacks into the settings file before each deployment, and
// deploys again if the addresses differ from those that the functions got. Until then the functions have placeholders.
type addresses = address.Origins

// unknownAddress returns a placeholder for an address that is not known yet. The top-level domain invalid is reserved,
// so it never resolves.
func unknownAddress(host string) string { return "https://" + host + ".invalid" }

func findAddresses(o options, known settings) addresses {
	if o.hasDomains() {
		return hostsAt(func(host string) string { return "https://" + o.Domains[host].Name })
	}
	return hostsAt(func(host string) string {
		if url := known[o.stackName(host)]["Url"]; url != "" {
			return url
		}
		return unknownAddress(host)
	})
}

// hostsAt asks at for the address of each host.
func hostsAt(at func(host string) string) addresses {
	return addresses{
		API:     at("api"),
		Upload:  at("upload"),
		Content: at("content"),
		App:     at("app"),
		MCP:     at("mcp"),
	}
}

// settings holds the outputs of the stacks by stack and name: addresses, tables, the bucket, rings, functions.
// scripts/deploy adds RingsVersion to the stack Data; it changes with the version of any ring.
type settings map[string]map[string]string

// readSettings reads a settings file. A missing file is not an error, because there is none before the first
// deployment.
func readSettings(file string) (settings, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var s settings
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return nil, fmt.Errorf("the settings file %s cannot be read: %w", file, err)
	}
	return s, nil
}
