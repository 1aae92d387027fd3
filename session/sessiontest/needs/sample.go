package needs

import "os"

// Sample says that a test whose cases differ little from each other tries a part of them: unless CI=true asks for everything. Then too
// with the race detector, and where SAMPLE_TESTS is set to anything, for a machine on which processes start slowly.
var Sample = Detector || os.Getenv("SAMPLE_TESTS") != "" || os.Getenv("CI") != "true"
