"""``%agy auth``: how one signs in to an agent, done from the notebook."""
