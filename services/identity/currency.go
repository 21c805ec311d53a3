package identity

import (
	"slices"
	"time"

	"golang.org/x/text/currency"
)

// newerCurrencies came into use after the library's table was made, in 2018 and later.
var newerCurrencies = []string{"MRU", "SLE", "VED", "VES", "XCG", "ZWG"}

// isCurrency reports whether a code of ISO 4217 names money that is legal tender somewhere at that time.
func isCurrency(code string, at time.Time) bool {
	if slices.Contains(newerCurrencies, code) {
		return true
	}
	for it := currency.Query(currency.Date(at)); it.Next(); {
		if it.Unit().String() == code {
			return true
		}
	}
	return false
}
