package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"vitrine/shared/platform/address"
)

// addresses are the origins of all hosts, which every host gets.
//
// With domains they are known beforehand. Without, AWS assigns them in the first deployment, and no
// template can reference the address of a host whose own template references this one's. So
// scripts/deploy reads the outputs of the stacks into the settings file before each deployment, and
// deploys once more if the addresses turn out to differ from what the functions got. Until then
// placeholders are used.
type addresses = address.Origins

// unknownAddress is a placeholder for an address that is not known yet; the reserved domain never
// resolves.
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

// hostsAt returns the addresses of all hosts.
func hostsAt(at func(host string) string) addresses {
	return addresses{
		API:     at("api"),
		Upload:  at("upload"),
		Content: at("content"),
		App:     at("app"),
		MCP:     at("mcp"),
	}
}

// settings are the outputs of the stacks by stack and name: addresses, tables, the bucket, rings,
// functions. scripts/deploy adds RingsVersion of the stack Data, which stands for the versions of
// the rings.
type settings map[string]map[string]string

// readSettings reads a settings file; a missing one is empty.
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
