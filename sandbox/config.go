package sandbox

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"revarch/sandbox/data"
	"revarch/sandbox/oauth"
)

// Defaults of a Config.
const (
	DefaultClientID     = "revarch-sandbox"
	DefaultClientSecret = "revarch-sandbox-secret"
	DefaultDailyLimit   = 1_000_000
	DefaultAccessTTL    = 2 * time.Hour
	DefaultRefreshTime  = 30 * time.Millisecond
	DefaultSeed         = 1
)

// Config is what the operator decides. The zero value works: 400 accounts, kept in memory.
type Config struct {
	Seed     uint64
	Accounts int // default 400
	// Averages per account; 0 means the defaults 3, 1.5 and 6, a negative number none.
	ContactsPerAccount, OpportunitiesPerAccount, TasksPerAccount float64

	Anchor   time.Time          // the day that the data calls today; default: the day of the first start
	Roster   []data.RosterEntry // real institutions to take names and ids from
	StateDir string             // where grants and changes are kept; "" keeps nothing

	Clients     []oauth.Client // default: one client whose callback may be on any loopback port
	AutoConsent bool           // answer authorization requests without the consent page
	AccessTTL   time.Duration  // of access tokens
	RefreshTime time.Duration  // how long a refresh takes
	DailyLimit  int            // API requests a day
	PublicURL   string         // address of the sandbox in answers; default: as the request names it
	Clock       func() time.Time
}

// DefaultClient is the client that RevArch uses when nothing else is configured, with a callback for one provider.
func DefaultClient(provider string) oauth.Client {
	return oauth.Client{ID: DefaultClientID, Secret: DefaultClientSecret, Name: "RevArch", RedirectURIs: []string{
		"http://127.0.0.1/api/connectors/" + provider + "/callback",
		"http://localhost/api/connectors/" + provider + "/callback",
		"http://[::1]/api/connectors/" + provider + "/callback",
	}}
}

// withDefaults checks everything at once.
func (c Config) withDefaults() (Config, error) {
	var problems []error
	if c.Accounts < 0 || c.Accounts > 5_000_000 {
		problems = append(problems, fmt.Errorf("accounts: %d is not between 1 and 5000000", c.Accounts))
	}
	if c.AccessTTL < 0 || c.RefreshTime < 0 || c.DailyLimit < 0 {
		problems = append(problems, errors.New("access lifetime, refresh time and daily limit are not negative"))
	}
	if u, err := url.Parse(c.PublicURL); c.PublicURL != "" && (err != nil || u.Host == "") {
		problems = append(problems, fmt.Errorf("public URL %q is not absolute", c.PublicURL))
	}
	for _, client := range c.Clients {
		if client.ID == "" || client.Secret == "" || len(client.RedirectURIs) == 0 {
			problems = append(problems, fmt.Errorf("client %q needs an id, a secret and a redirect URI", client.ID))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return c, fmt.Errorf("sandbox configuration: %w", err)
	}
	if c.Seed == 0 {
		c.Seed = DefaultSeed
	}
	if c.Accounts == 0 {
		c.Accounts = data.DefaultAccounts
	}
	if c.AccessTTL == 0 {
		c.AccessTTL = DefaultAccessTTL
	}
	if c.RefreshTime == 0 {
		c.RefreshTime = DefaultRefreshTime
	}
	if c.DailyLimit == 0 {
		c.DailyLimit = DefaultDailyLimit
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c, nil
}
