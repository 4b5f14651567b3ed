"""The parts of a RelevanceSVC: machines of different kinds whose log-odds are mixed."""
