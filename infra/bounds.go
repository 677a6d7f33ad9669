package main

import (
	"fmt"
	"strconv"

	"vitrine/shared/platform/limits"
)

// maxCache is a quarter of the memory of the smallest function that has a cache. Garbage may take as much again, and
// the rest is for requests.
const maxCache = 128 << 20

// readCache reads how many bytes of immutable data a function keeps in memory.
func readCache(c lookup) (int64, error) {
	said := c.text("cache", strconv.FormatInt(limits.Default().Cache, 10))
	n, err := strconv.ParseInt(said, 10, 64)
	if err != nil || n < 0 || n > maxCache {
		return 0, fmt.Errorf("cache is a number of bytes from 0 to %d, not %q", maxCache, said)
	}
	return n, nil
}

// readBounds reads whether roles may write only the items that they need, how much functions keep in memory, and what
// the tables and the account may cost.
func (o *options) readBounds(c lookup) (err error) {
	if o.NarrowWrites, err = c.yes("narrow-writes", "yes"); err != nil {
		return err
	}
	if o.ReadUnits, err = c.count("table-read-units"); err != nil {
		return err
	}
	if o.WriteUnits, err = c.count("table-write-units"); err != nil {
		return err
	}
	if o.Budget, err = c.count("budget-usd"); err != nil {
		return err
	}
	if o.Cache, err = readCache(c); err != nil {
		return err
	}
	if o.Budget > 0 && o.AlarmTopic == "" {
		return fmt.Errorf("a budget reports to the topic of the alarms: give alarm-topic too, or leave budget-usd away")
	}
	return nil
}

// yes reads a flag, which is yes or no.
func (l lookup) yes(name, otherwise string) (bool, error) {
	said := l.text(name, otherwise)
	if said != "yes" && said != "no" {
		return false, fmt.Errorf("the context %s is yes or no, not %q", name, said)
	}
	return said == "yes", nil
}

// count reads a positive number. It returns 0 for none, which is the default.
func (l lookup) count(name string) (float64, error) {
	said := l.text(name, "none")
	n, err := strconv.Atoi(said)
	if said != "none" && (err != nil || n < 1) {
		return 0, fmt.Errorf("%s is a number of at least 1 or none, not %q", name, said)
	}
	return float64(n), nil
}
