package text

import "testing"

func TestSizesHaveOneUnitEverywhere(t *testing.T) {
	for got, want := range map[string]string{
		Size(0):                 "0 bytes",
		Size(1):                 "1 byte",
		Size(999):               "999 bytes",
		Size(1000):              "1 kB",
		Size(18_412):            "18 kB",
		Size(999_999):           "1 MB",
		Size(2_340_000):         "2.3 MB",
		Size(5_000_000_000_000): "5 TB",
		SizeLimit(10 << 20):     "10 MiB",
		SizeLimit(1500):         "1.5 kB",
		SizeLimit(0):            "0 bytes",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
