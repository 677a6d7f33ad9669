// Package lighthouse audits the pages of the app host with Lighthouse. Only scripts/check -all builds its tests,
// because the program comes from npm.
package lighthouse
