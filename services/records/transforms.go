package records

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"golang.org/x/net/idna"

	"revarch/models"
)

// Transform is a named conversion that a mapping may ask for in place of its field's default.
type Transform struct {
	Name        string
	Description string
	kinds       []models.FieldKind
	convert     converter
}

// Fits reports whether the transform makes values of a canonical field.
func (t Transform) Fits(f models.TargetField) bool { return slices.Contains(t.kinds, f.Kind) }

var (
	textKind    = []models.FieldKind{models.KindText}
	moneyKind   = []models.FieldKind{models.KindMoney}
	percentKind = []models.FieldKind{models.KindPercent}
)

// Transforms is the catalog of named conversions. Those for one canonical field are its default too.
var Transforms = []Transform{
	{"domain", "Host name of a web address or an e-mail address, without www", textKind, toDomain},
	{"usps_state", "Two-letter code of a state or territory, from its code or its name", textKind, toState},
	{"account_status", "customer, prospect or former_customer, from the CRM's account type", textKind, oneOf(statuses)},
	{"segment", "Enterprise, Mid-Market or SMB", textKind, oneOf(segments)},
	{"buyer_type", "k12 or higher_ed", textKind, oneOf(buyerTypes)},
	{"buyer_types", "A list of k12 and higher_ed", textKind, listOf(oneOf(buyerTypes))},
	{"usps_states", "A list of two-letter codes of states and territories, from codes or names", textKind, listOf(toState)},
	{"nces_id", "NCES district id with its leading zeros, 7 digits", textKind, toNCES},
	{"unitid", "IPEDS UNITID, 6 digits", textKind, toUNITID},
	{"opportunity_type", "new_business, renewal or expansion", textKind, oneOf(opportunityTypes)},
	{"activity_type", "email, call, meeting or task", textKind, oneOf(activityTypes)},
	{"line_status", "active or ended, from the status of an asset or a contract line", textKind, oneOf(lineStatuses)},
	{"lowercase", "Text in lower case", textKind, lower},
	{"share", "A share 0-1 as it is, in place of a percentage", percentKind, within(toDecimal, 0, 1)},
	{"cents", "An amount that is in cents already", moneyKind, wholeCents},
	{"round_cents", "An amount with more than two decimals, rounded half to even", moneyKind, roundCents},
}

type target struct {
	record models.RecordType
	field  string
}

// defaultTransforms names the transform of each canonical field that has a vocabulary or a form of its own.
var defaultTransforms = map[target]string{
	{models.RecordAccount, "domain"}: "domain", {models.RecordAccount, "state"}: "usps_state",
	{models.RecordAccount, "status"}: "account_status", {models.RecordAccount, "segment"}: "segment",
	{models.RecordAccount, "buyer_type"}: "buyer_type", {models.RecordAccount, "nces_id"}: "nces_id",
	{models.RecordAccount, "unitid"}: "unitid", {models.RecordOpportunity, "type"}: "opportunity_type",
	{models.RecordAccountProduct, "status"}: "line_status",
	{models.RecordProduct, "offered_to"}:    "buyer_types", {models.RecordProduct, "offered_in"}: "usps_states",
	{models.RecordActivity, "type"}: "activity_type", {models.RecordContact, "email"}: "lowercase",
}

// The vocabularies: what sources say, in lower case without punctuation, and what we store.
var (
	statuses = vocabulary("customer", "customer,client,current customer,active customer,active,customer direct,customer channel,existing customer",
		"prospect", "prospect,lead,target,new,opportunity,prospective customer",
		"former_customer", "former customer,former,past customer,ex customer,churned,churned customer,inactive customer,lost customer")
	segments   = vocabulary("Enterprise", "enterprise,ent", "Mid-Market", "mid market,midmarket,mm", "SMB", "smb,small business,small and medium business")
	buyerTypes = vocabulary("k12", "k12,k 12,district,school district,k 12 district,lea",
		"higher_ed", "higher ed,highered,higher education,college,university,institution,postsecondary")
	opportunityTypes = vocabulary("new_business", "new business,new,new customer,new logo,newbusiness",
		"renewal", "renewal,existing customer renewal,existing business renewal",
		"expansion", "expansion,upsell,cross sell,add on,upgrade,existing business,existing customer upgrade,existingbusiness")
	lineStatuses = vocabulary("active", "active,installed,shipped,registered,purchased,in use,live,current",
		"ended", "ended,obsolete,retired,expired,cancelled,canceled,inactive,churned,terminated,former")
	activityTypes = vocabulary("email", "email,e mail,list email", "call", "call,phone call,phone", "meeting", "meeting,event,demo", "task", "task,to do,todo,linkedin,other")
)

// vocabulary pairs each stored word with the words that mean it.
func vocabulary(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		for word := range strings.SplitSeq(pairs[i+1], ",") {
			out[word] = pairs[i]
		}
		out[words(pairs[i])] = pairs[i]
	}
	return out
}

// words keeps letters and digits in lower case, with single spaces between.
func words(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), " ")
}

func oneOf(vocabulary map[string]string) converter {
	return func(v gjson.Result) (any, bool) {
		s, ok := plain(v)
		if !ok || s == "" {
			return nil, ok
		}
		word, ok := vocabulary[s]
		if !ok {
			word, ok = vocabulary[words(s)]
		}
		return word, ok
	}
}

// listOf converts the parts of a text with semicolons, as multi-select fields have them, or commas; the words come out
// sorted, each once.
func listOf(one converter) converter {
	return func(v gjson.Result) (any, bool) {
		s, ok := plain(v)
		if !ok || s == "" {
			return nil, ok
		}
		var out []string
		for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ';' || r == ',' }) {
			word, ok := one(gjson.Result{Type: gjson.String, Str: part})
			if !ok {
				return nil, false
			}
			if text, is := word.(string); is {
				out = append(out, text)
			}
		}
		if len(out) == 0 {
			return nil, true
		}
		slices.Sort(out)
		return strings.Join(slices.Compact(out), ","), true
	}
}

func lower(v gjson.Result) (any, bool) {
	out, ok := toText(v)
	if s, is := out.(string); is {
		return strings.ToLower(s), ok
	}
	return out, ok
}

// toDomain takes the host of an address, without scheme, user, port, path and www.
func toDomain(v gjson.Result) (any, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	if _, rest, found := strings.Cut(s, "://"); found {
		s = rest
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	host, _, _ := strings.Cut(s, ":")
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if strings.IndexFunc(host, func(r rune) bool { return r > 127 }) >= 0 {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return nil, false
		}
		host = ascii
	}
	host = strings.TrimPrefix(host, "www.")
	return host, isHost(host)
}

// isHost reports a host name of at least two labels that is no address.
func isHost(host string) bool {
	if len(host) > 253 || !strings.Contains(host, ".") {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.IndexFunc(label, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }) >= 0 {
			return false
		}
	}
	_, err := netip.ParseAddr(host)
	return err != nil
}

func toState(v gjson.Result) (any, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	if len(s) == 2 {
		code := strings.ToUpper(s)
		return code, isState[code]
	}
	code, ok := stateByName[words(s)]
	return code, ok
}

// toNCES pads a district's LEAID to 7 digits: spreadsheets and number fields lose the zeros.
func toNCES(v gjson.Result) (any, bool) {
	s, ok := digits(v)
	if !ok || s == "" {
		return nil, ok
	}
	if len(s) > 7 || len(s) < 6 { // the first two are the state's, from 01 on
		return nil, false
	}
	return strings.Repeat("0", 7-len(s)) + s, true
}

func toUNITID(v gjson.Result) (any, bool) {
	s, ok := digits(v)
	if !ok || s == "" {
		return nil, ok
	}
	return s, len(s) == 6 && s[0] != '0'
}

// digits returns an identifier of digits, also from a number field or with separators.
func digits(v gjson.Result) (string, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return "", ok
	}
	s = strings.TrimSuffix(s, ".0")
	s = strings.NewReplacer(" ", "", "-", "").Replace(s)
	return s, s != "" && strings.Trim(s, "0123456789") == ""
}
