package models

// RecordType names a canonical record that provider records become.
type RecordType string

// The canonical record types.
const (
	RecordAccount        RecordType = "account"
	RecordContact        RecordType = "contact"
	RecordOpportunity    RecordType = "opportunity"
	RecordActivity       RecordType = "activity"
	RecordProduct        RecordType = "product"
	RecordAccountProduct RecordType = "account_product"
	RecordProductPrice   RecordType = "product_price" // an entry of a price book
	RecordOrderLine      RecordType = "order_line"    // a product in a deal
	RecordCRMUser        RecordType = "crm_user"      // who owns records in the CRM
)

// FieldMapping pairs a provider field with a canonical field of the record its object becomes.
type FieldMapping struct {
	Object      string `json:"object" gorm:"primaryKey"`                        // provider object, such as Account
	SourceField string `json:"source_field"`                                    // provider field, such as Segment__c
	TargetField string `json:"target_field" gorm:"primaryKey"`                  // canonical field, such as segment
	Transform   string `json:"transform,omitempty" gorm:"default:null"`         // name of a transform, "" for none
	Required    bool   `json:"required"`                                        // a record without a value is a failed row
	SourceType  string `json:"source_type,omitempty" gorm:"column:source_type"` // neutral type of the source field
}

// FieldKind is the type of a canonical field.
type FieldKind string

// The kinds of canonical fields and the form of their values.
const (
	KindText    FieldKind = "text"
	KindInteger FieldKind = "integer"
	KindDecimal FieldKind = "decimal"
	KindMoney   FieldKind = "money" // source in currency units with at most two decimals, stored in cents
	KindBool    FieldKind = "boolean"
	KindDate    FieldKind = "date"
	KindInstant FieldKind = "instant"
	KindPercent FieldKind = "percent" // source 0-100, stored as a share 0-1
	KindLink    FieldKind = "link"    // the external id of another record of the same provider
)

// TargetField is a canonical field that a mapping may fill.
type TargetField struct {
	Record      RecordType
	Name        string
	Label       string
	Kind        FieldKind
	Required    bool
	Description string
}

// TargetFields is the catalog of canonical fields, per record in the order people read them.
var TargetFields = []TargetField{
	{RecordAccount, "name", "Name", KindText, true, "Account name"},
	{RecordAccount, "domain", "Web domain", KindText, false, "Web site or domain; stored as a bare host name"},
	{RecordAccount, "city", "City", KindText, false, "City of the main address"},
	{RecordAccount, "state", "State", KindText, false, "Two-letter state or territory code"},
	{RecordAccount, "status", "Status", KindText, false, "customer, prospect or former_customer"},
	{RecordAccount, "segment", "Segment", KindText, false, "Enterprise, Mid-Market or SMB"},
	{RecordAccount, "territory", "Territory", KindText, false, "Name of the sales territory"},
	{RecordAccount, "buyer_type", "Buyer type", KindText, false, "k12 or higher_ed"},
	{RecordAccount, "nces_id", "NCES district id", KindText, false, "LEAID, 7 digits with leading zeros"},
	{RecordAccount, "unitid", "IPEDS institution id", KindText, false, "UNITID, 6 digits"},
	{RecordAccount, "enrollment", "Enrollment", KindInteger, false, "Students or FTE"},
	{RecordAccount, "owner_external_id", "Owner", KindLink, false, "Owning user in the CRM"},
	{RecordAccount, "parent_external_id", "Parent account", KindLink, false, "Parent account in the CRM"},
	{RecordAccount, "source_created_at", "Created", KindInstant, false, "When the account was created at the source"},
	{RecordAccount, "arr_cents", "ARR", KindMoney, false, "Annual recurring revenue of the whole account; ignored while product lines exist"},
	{RecordAccount, "renewal_date", "Renewal date", KindDate, false, "Next renewal date"},
	{RecordAccount, "seats", "Licensed seats", KindInteger, false, "Seats bought"},
	{RecordAccount, "active_28d", "Active users, last 28 days", KindInteger, false, "Distinct active users in the last 28 days"},
	{RecordAccount, "active_prior_28d", "Active users, 28 days before", KindInteger, false, "Distinct active users in the 28 days before those"},
	{RecordAccount, "products_owned", "Products owned", KindInteger, false, "Products under contract"},
	{RecordAccount, "products_live", "Products live", KindInteger, false, "Products in use"},
	{RecordAccount, "tickets_open", "Open tickets", KindInteger, false, "Support tickets open now"},
	{RecordAccount, "p1_open", "Open P1 tickets", KindInteger, false, "Highest-severity tickets open now"},
	{RecordAccount, "tickets_90d", "Tickets, last 90 days", KindInteger, false, "Support tickets opened in the last 90 days"},
	{RecordAccount, "csat_90d", "CSAT, last 90 days", KindDecimal, false, "Mean satisfaction 1-5 over the last 90 days"},
	{RecordAccount, "overdue_days", "Days overdue", KindInteger, false, "Age of the oldest unpaid invoice past its due date"},
	{RecordAccount, "onboarding_pct", "Onboarding done", KindPercent, false, "Share of onboarding milestones done"},
	{RecordAccount, "goals_met_pct", "Goals met", KindPercent, false, "Share of agreed goals met"},
	{RecordAccount, "competitor", "Competitor", KindText, false, "Competitor seen at the account; empty for none"},
	{RecordAccount, "expansion_opt_out", "Opted out of expansion", KindBool, false, "Whether the account asked not to be offered more products"},
	{RecordContact, "account_external_id", "Account", KindLink, false, "Account the contact belongs to"},
	{RecordContact, "first_name", "First name", KindText, false, "Given name"},
	{RecordContact, "last_name", "Last name", KindText, false, "Family name"},
	{RecordContact, "name", "Name", KindText, true, "Full name"},
	{RecordContact, "email", "E-mail", KindText, false, "E-mail address"},
	{RecordContact, "phone", "Phone", KindText, false, "Phone number"},
	{RecordContact, "title", "Title", KindText, false, "Job title"},
	{RecordContact, "champion", "Champion", KindBool, false, "Whether the contact champions us"},
	{RecordContact, "left_on", "Left on", KindDate, false, "Date the contact left the institution"},
	{RecordContact, "owner_external_id", "Owner", KindLink, false, "Owning user in the CRM"},
	{RecordOpportunity, "account_external_id", "Account", KindLink, false, "Account the deal is with"},
	{RecordOpportunity, "name", "Name", KindText, true, "Deal name"},
	{RecordOpportunity, "stage", "Stage", KindText, true, "Stage as the CRM names it"},
	{RecordOpportunity, "amount_cents", "Amount", KindMoney, false, "Deal amount"},
	{RecordOpportunity, "close_date", "Close date", KindDate, false, "Expected or actual close date"},
	{RecordOpportunity, "is_closed", "Closed", KindBool, false, "Whether the deal is closed"},
	{RecordOpportunity, "is_won", "Won", KindBool, false, "Whether the deal is won"},
	{RecordOpportunity, "type", "Type", KindText, false, "new_business, renewal or expansion"},
	{RecordOpportunity, "forecast_category", "Forecast category", KindText, false, "Category as the CRM names it"},
	{RecordOpportunity, "probability", "Probability", KindPercent, false, "Probability of winning"},
	{RecordOpportunity, "owner_external_id", "Owner", KindLink, false, "Owning user in the CRM"},
	{RecordOpportunity, "stage_changed_at", "Stage since", KindInstant, false, "When the deal entered its stage"},
	{RecordOpportunity, "created_on", "Created", KindInstant, false, "When the deal was created"},
	{RecordActivity, "account_external_id", "Account", KindLink, false, "Account the activity is about"},
	{RecordActivity, "contact_external_id", "Contact", KindLink, false, "Person the activity is with"},
	{RecordActivity, "owner_external_id", "Owner", KindLink, false, "User who did it"},
	{RecordActivity, "type", "Type", KindText, false, "email, call, meeting or task"},
	{RecordActivity, "subject", "Subject", KindText, false, "Subject line"},
	{RecordActivity, "status", "Status", KindText, false, "Status as the CRM names it"},
	{RecordActivity, "on_date", "Date", KindDate, false, "Day of the activity"},
	{RecordActivity, "completed_at", "Completed", KindInstant, false, "When it was completed"},
	{RecordProduct, "name", "Name", KindText, true, "Product name"},
	{RecordProduct, "sku", "SKU", KindText, false, "Code that imports name the product by"},
	{RecordProduct, "active", "Active", KindBool, false, "Whether it is sold today; yes when the source does not say"},
	{RecordProduct, "list_price_cents", "List price", KindMoney, false, "Price before discounts; an active price book entry goes before it"},
	{RecordProduct, "offered_to", "Offered to", KindText, false, "Buyer types that may buy it, k12 and higher_ed; all when empty"},
	{RecordProduct, "offered_in", "Offered in", KindText, false, "States that it is sold in; all when empty"},
	{RecordAccountProduct, "account_external_id", "Account", KindLink, false, "Account that bought it"},
	{RecordAccountProduct, "product_external_id", "Product", KindLink, false, "Product that was bought"},
	{RecordAccountProduct, "name", "Name", KindText, false, "Name of the line"},
	{RecordAccountProduct, "arr_cents", "ARR", KindMoney, false, "What the line costs a year, quantity included"},
	{RecordAccountProduct, "quantity", "Quantity", KindDecimal, false, "Licenses or students"},
	{RecordAccountProduct, "start_date", "Start", KindDate, false, "First day of the term"},
	{RecordAccountProduct, "end_date", "End", KindDate, false, "Last day of the term"},
	{RecordAccountProduct, "status", "Status", KindText, false, "active or ended"},
	{RecordProductPrice, "product_external_id", "Product", KindLink, false, "Product that the price is of"},
	{RecordProductPrice, "price_cents", "List price", KindMoney, false, "Price before discounts"},
	{RecordProductPrice, "active", "Active", KindBool, false, "Whether the price is in use; yes when the source does not say"},
	{RecordOrderLine, "opportunity_external_id", "Deal", KindLink, false, "Deal that the line belongs to"},
	{RecordOrderLine, "product_external_id", "Product", KindLink, false, "Product in the deal"},
	{RecordOrderLine, "quantity", "Quantity", KindDecimal, false, "Licenses or students"},
	{RecordOrderLine, "total_cents", "Total", KindMoney, false, "What the line costs"},
	{RecordOrderLine, "on_date", "Service date", KindDate, false, "Day on which the product starts"},
	{RecordCRMUser, "name", "Name", KindText, true, "Full name"},
	{RecordCRMUser, "email", "E-mail", KindText, false, "E-mail address"},
	{RecordCRMUser, "active", "Active", KindBool, false, "Whether the user may sign in to the CRM; yes when the source does not say"},
}
