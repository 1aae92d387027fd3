package cmdutil

// StartFlags are the flags with which somebody else's process starts this program so that it means the same inventory and
// the same keeper: such a process has another directory, and not the variables of this one.
func (f *Factory) StartFlags() ([]string, error) {
	var flags []string
	if f.InventoryFile != "" || f.Getenv("FAIRLEAD_INVENTORY") != "" {
		path, err := f.InventoryPath()
		if err != nil {
			return nil, err
		}
		flags = append(flags, "-i", path)
	}
	if f.KeeperFlag == "" && f.Getenv(KeeperVariable) == "" {
		return flags, nil
	}
	mode, err := f.KeeperMode()
	if err != nil {
		return nil, err
	}
	return append(flags, "--keeper", string(mode)), nil
}
