package salesforce

import (
	"strings"

	"revarch/sandbox/data"
)

// field describes one column in the words of a describe answer.
type field struct {
	Name, Label, Type string
	Length            int // of text
	Precision, Scale  int // of numbers
	Custom            bool
	Nillable          bool
	Writable          bool // createable and updateable
	ExternalID        bool
	Calculated        bool
	Picklist          []string
	ReferenceTo       []string
	Relationship      string
	DefaultOnCreate   bool
}

func (f *field) filterable() bool { return f.Type != "textarea" }

// object describes one kind of record. Fields keep their order everywhere: it is also the order of the values in a row.
type object struct {
	Name, Label, Plural, Prefix string
	Mergeable                   bool
	Fields                      []field
	byName                      map[string]int // lower-case name to position
	at                          positions
}

// positions are the columns that every object has.
type positions struct{ id, deleted, created, modified, system, master int }

func (o *object) index(name string) (int, bool) {
	i, ok := o.byName[strings.ToLower(name)]
	return i, ok
}

func text(name, label string, length int) field {
	return field{Name: name, Label: label, Type: "string", Length: length, Nillable: true, Writable: true}
}

func typed(name, label, kind string) field {
	f := field{Name: name, Label: label, Type: kind, Nillable: true, Writable: true}
	switch kind {
	case "email":
		f.Length = 80
	case "phone":
		f.Length = 40
	case "url":
		f.Length = 255
	case "currency":
		f.Precision, f.Scale = 18, 2
	case "boolean":
		f.Nillable = false
		f.DefaultOnCreate = true
	}
	return f
}

func number(name, label, kind string, precision, scale int) field {
	return field{Name: name, Label: label, Type: kind, Precision: precision, Scale: scale, Nillable: true, Writable: true}
}

func choice(name, label string, values ...string) field {
	return field{Name: name, Label: label, Type: "picklist", Length: 255, Nillable: true, Writable: true, Picklist: values}
}

// choices is a field of several values with semicolons between.
func choices(name, label string, values ...string) field {
	f := choice(name, label, values...)
	f.Type, f.Length = "multipicklist", 4099
	return f
}

func reference(name, label, relationship string, to ...string) field {
	return field{Name: name, Label: label, Type: "reference", Length: 18, Nillable: true, Writable: true, ReferenceTo: to, Relationship: relationship}
}

func custom(f field) field {
	f.Custom = true
	return f
}

func readOnly(f field) field {
	f.Writable = false
	return f
}

func required(f field) field {
	f.Nillable = false
	return f
}

// newObject puts the system fields in front and indexes the names.
func newObject(name, label, plural, prefix string, mergeable bool, fields ...field) *object {
	o := &object{Name: name, Label: label, Plural: plural, Prefix: prefix, Mergeable: mergeable, byName: map[string]int{}}
	o.Fields = append(o.Fields,
		field{Name: "Id", Label: label + " ID", Type: "id", Length: 18, DefaultOnCreate: true},
		field{Name: "IsDeleted", Label: "Deleted", Type: "boolean", DefaultOnCreate: true})
	if mergeable {
		o.Fields = append(o.Fields, readOnly(reference("MasterRecordId", "Master Record ID", "MasterRecord", name)))
	}
	for _, f := range []string{"CreatedDate|Created Date", "LastModifiedDate|Last Modified Date", "SystemModstamp|System Modstamp"} {
		name, label, _ := strings.Cut(f, "|")
		o.Fields = append(o.Fields, field{Name: name, Label: label, Type: "datetime", DefaultOnCreate: true})
	}
	o.Fields = append(o.Fields, fields...)
	for i, f := range o.Fields {
		o.byName[strings.ToLower(f.Name)] = i
	}
	o.at = positions{
		id: o.byName["id"], deleted: o.byName["isdeleted"], created: o.byName["createddate"],
		modified: o.byName["lastmodifieddate"], system: o.byName["systemmodstamp"], master: -1,
	}
	if mergeable {
		o.at.master = o.byName["masterrecordid"]
	}
	return o
}

func owner() field { return required(reference("OwnerId", "Owner ID", "Owner", "User")) }

// newSchema lists the objects that the sandbox serves, in the order of their listing.
func newSchema() []*object {
	return []*object{
		newObject("User", "User", "Users", "005", false,
			readOnly(text("Name", "Full Name", 121)), readOnly(required(typed("Email", "Email", "email"))),
			readOnly(required(text("Username", "Username", 80))), readOnly(typed("IsActive", "Active", "boolean"))),
		accountObject(),
		newObject("Contact", "Contact", "Contacts", "003", true,
			reference("AccountId", "Account ID", "Account", "Account"),
			text("FirstName", "First Name", 40), required(text("LastName", "Last Name", 80)), readOnly(text("Name", "Full Name", 121)),
			typed("Email", "Email", "email"), typed("Phone", "Business Phone", "phone"), text("Title", "Title", 128), owner(),
			custom(typed("Champion__c", "Champion", "boolean")), custom(typed("Left_Date__c", "Left Date", "date"))),
		newObject("Opportunity", "Opportunity", "Opportunities", "006", false,
			reference("AccountId", "Account ID", "Account", "Account"),
			required(text("Name", "Name", 120)), required(choice("StageName", "Stage", stageNames()...)),
			typed("Amount", "Amount", "currency"), required(typed("CloseDate", "Close Date", "date")),
			readOnly(typed("IsClosed", "Closed", "boolean")), readOnly(typed("IsWon", "Won", "boolean")),
			choice("Type", "Opportunity Type", "New Business", "Renewal", "Expansion"),
			choice("ForecastCategoryName", "Forecast Category", "Pipeline", "Best Case", "Commit", "Omitted", "Closed"),
			number("Probability", "Probability (%)", "percent", 3, 0), owner(),
			readOnly(typed("LastStageChangeDate", "Last Stage Change Date", "datetime"))),
		taskObject(),
		newObject("Product2", "Product", "Products", "01t", false,
			required(text("Name", "Product Name", 255)), text("ProductCode", "Product Code", 255),
			choice("Family", "Product Family", "Curriculum", "Assessment", "Platform", "Engagement", "Safety", "Advising", "Analytics"),
			typed("IsActive", "Active", "boolean"),
			custom(choices("Offered_To__c", "Offered To", "K-12", "Higher Ed")), custom(choices("Offered_In__c", "Offered In", data.States()...))),
		newObject("PricebookEntry", "Price Book Entry", "Price Book Entries", "01u", false,
			required(reference("Product2Id", "Product ID", "Product2", "Product2")),
			required(typed("UnitPrice", "List Price", "currency")), typed("IsActive", "Active", "boolean")),
		newObject("OpportunityLineItem", "Opportunity Product", "Opportunity Products", "00k", false,
			required(reference("OpportunityId", "Opportunity ID", "Opportunity", "Opportunity")),
			reference("Product2Id", "Product ID", "Product2", "Product2"),
			required(number("Quantity", "Quantity", "double", 12, 2)), typed("UnitPrice", "Sales Price", "currency"),
			typed("TotalPrice", "Total Price", "currency"), typed("ServiceDate", "Date", "date")),
		newObject("Asset", "Asset", "Assets", "02i", false,
			reference("AccountId", "Account ID", "Account", "Account"), reference("Product2Id", "Product ID", "Product2", "Product2"),
			required(text("Name", "Asset Name", 255)), number("Quantity", "Quantity", "double", 12, 2), typed("Price", "Price", "currency"),
			choice("Status", "Status", "Installed", "Obsolete"), typed("InstallDate", "Install Date", "date"),
			typed("UsageEndDate", "Usage End Date", "date")),
	}
}

func accountObject() *object {
	count := func(name, label string) field { return custom(number(name, label, "double", 18, 0)) }
	return newObject("Account", "Account", "Accounts", "001", true,
		required(text("Name", "Account Name", 255)), typed("Website", "Website", "url"),
		text("BillingCity", "Billing City", 40), text("BillingState", "Billing State/Province", 80),
		choice("Type", "Account Type", "Customer", "Prospect", "Former Customer"),
		reference("ParentId", "Parent Account ID", "Parent", "Account"), owner(),
		readOnly(typed("LastActivityDate", "Last Activity", "date")),
		custom(choice("Segment__c", "Segment", "Enterprise", "Mid-Market", "SMB")),
		custom(text("Territory__c", "Territory", 80)), custom(choice("Buyer_Type__c", "Buyer Type", "K-12", "Higher Ed")),
		custom(text("NCES_ID__c", "NCES ID", 7)), custom(text("UNITID__c", "UNITID", 6)),
		count("Enrollment__c", "Enrollment"), custom(typed("ARR__c", "ARR", "currency")), count("Seats__c", "Seats"),
		count("Active_Users_28d__c", "Active Users (28 days)"), count("Active_Users_Prior_28d__c", "Active Users (prior 28 days)"),
		count("Products_Owned__c", "Products Owned"), count("Products_Live__c", "Products Live"),
		count("Open_P1__c", "Open P1 Tickets"), count("Open_Tickets__c", "Open Tickets"), count("Tickets_90d__c", "Tickets (90 days)"),
		custom(number("CSAT_90d__c", "CSAT (90 days)", "double", 3, 1)), count("Overdue_Days__c", "Overdue Days"),
		custom(typed("Renewal_Date__c", "Renewal Date", "date")),
		custom(number("Onboarding_Pct__c", "Onboarding Complete", "percent", 3, 0)),
		custom(number("Goals_Met_Pct__c", "Goals Met", "percent", 3, 0)),
		// A long text area, as it is where sellers paste notes: not filterable, far over the 255 of a text field.
		custom(field{Name: "Competitor__c", Label: "Competitor", Type: "textarea", Length: 32768, Nillable: true, Writable: true}),
		custom(typed("Expansion_Opt_Out__c", "Expansion Opt-Out", "boolean")))
}

func taskObject() *object {
	key := custom(text("RevArch_Key__c", "RevArch Key", 64)) // lets a client repeat a write without doubling it
	key.ExternalID = true
	return newObject("Task", "Task", "Tasks", "00T", false,
		reference("WhatId", "Related To ID", "What", "Account", "Opportunity", "Asset"), readOnly(reference("AccountId", "Account ID", "Account", "Account")),
		reference("WhoId", "Name ID", "Who", "Contact"), owner(), text("Subject", "Subject", 255),
		required(choice("Status", "Status", "Not Started", "In Progress", "Completed", "Waiting on someone else", "Deferred")),
		required(choice("Priority", "Priority", "High", "Normal", "Low")), typed("ActivityDate", "Due Date Only", "date"),
		choice("TaskSubtype", "Task Subtype", "Task", "Email", "Call"),
		readOnly(typed("CompletedDateTime", "Completed Date", "datetime")), readOnly(typed("IsClosed", "Closed", "boolean")), key)
}
