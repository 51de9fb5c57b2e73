"""The probes, put to the simulator, to its flavours, and to scripted agents."""
