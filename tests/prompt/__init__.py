"""What is sent to the agent."""
