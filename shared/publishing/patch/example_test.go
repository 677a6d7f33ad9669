package patch_test

import (
	"errors"
	"fmt"

	"vitrine/shared/publishing/patch"
)

const base = "# Tide tables\nHigh water 06:12\nLow water 12:40\n"

const diff = `@@ -1,3 +1,3 @@
 # Tide tables
-High water 06:12
+High water 06:19
 Low water 12:40
`

const maxResult = 1 << 20

func ExampleApply() {
	result, err := patch.Apply([]byte(base), []byte(diff), maxResult)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result))
	// Output:
	// # Tide tables
	// High water 06:19
	// Low water 12:40
}

// A hunk applies at the line that it names or not at all: there is no offset and no fuzz.
func ExampleApply_otherBase() {
	_, err := patch.Apply([]byte("A line more.\n"+base), []byte(diff), maxResult)

	fmt.Println(err, errors.Is(err, patch.Inapplicable))
	// Output:
	// apply_failed true
}
