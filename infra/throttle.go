package main

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
)

// throttle is how many requests a second the gateway of a host passes on, and how many at once. Without a throttle each
// host may use the quota of the whole account, so a flood on one host would stop the others.
type throttle struct{ Rate, Burst float64 }

var throttles = map[string]throttle{
	"content": {500, 1000},
	"api":     {200, 400},
	"upload":  {100, 200},
	"app":     {100, 200},
	"mcp":     {100, 200},
}

var throttleShape = regexp.MustCompile(`^([1-9][0-9]{0,6})/([1-9][0-9]{0,6})$`)

// readThrottles reads the throttles by host. A host that is not in the result has none.
func readThrottles(c lookup) (map[string]throttle, error) {
	out := maps.Clone(throttles)
	for _, host := range hostNames {
		given := c.text("throttle-"+host, "")
		switch found := throttleShape.FindStringSubmatch(given); {
		case given == "":
		case given == "none":
			delete(out, host)
		case found == nil:
			return nil, fmt.Errorf("throttle-%s is RATE/BURST, as %.0f/%.0f, or none, not %q", host, throttles[host].Rate,
				throttles[host].Burst, given)
		default:
			rate, _ := strconv.ParseFloat(found[1], 64)
			burst, _ := strconv.ParseFloat(found[2], 64)
			out[host] = throttle{rate, burst}
		}
	}
	return out, nil
}
