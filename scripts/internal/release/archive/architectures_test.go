//go:build architectures

package archive

import "vitrine/shared/platform/release"

func init() { platforms = release.Platforms }
