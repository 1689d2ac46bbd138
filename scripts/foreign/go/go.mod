module flowmeter/foreign

go 1.27
