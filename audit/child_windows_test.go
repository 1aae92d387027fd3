package audit_test

func child(string, string) int { return 1 }
