package text

import (
	"fmt"
	"strconv"
	"strings"

	"vitrine/shared/platform/limits"
)

// Size formats a number of bytes in decimal units, as browsers and file managers do. The pages of the app have a copy,
// because they import no shared package.
func Size(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	}
	value, unit := float64(n)/1000, 0
	for ; value >= 999.5 && unit < 3; unit++ {
		value /= 1000
	}
	text := fmt.Sprintf("%.1f", value)
	if value >= 10 {
		text = fmt.Sprintf("%.0f", value)
	}
	return strings.TrimSuffix(text, ".0") + " " + []string{"kB", "MB", "GB", "TB"}[unit]
}

// SizeLimit formats a limit in bytes. It prefers MiB, because most limits are round in binary units.
func SizeLimit(n int64) string {
	if n > 0 && n%limits.MiB == 0 {
		return fmt.Sprintf("%d MiB", n/limits.MiB)
	}
	return Size(n)
}

// Number formats a number that is not negative, with a comma before each three digits.
func Number(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%s,%03d", Number(n/1000), n%1000)
}

// ExactSize formats a number of bytes without rounding it.
func ExactSize(n int64) string {
	switch {
	case n%limits.MiB == 0:
		return fmt.Sprintf("%d MiB", n/limits.MiB)
	case n%1024 == 0:
		return fmt.Sprintf("%d KiB", n/1024)
	}
	return fmt.Sprintf("%d bytes", n)
}
