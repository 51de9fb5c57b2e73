"""What is known of each agent, and the simulator."""
